#pragma once

#include <string_view>

/// For debugging: straight to standard output, past all I/O servers.
namespace vmrun {

void write_past_io(std::string_view text);

}  // namespace vmrun

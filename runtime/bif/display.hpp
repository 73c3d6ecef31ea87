// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string_view>

/// Output for debugging: it goes directly to a standard file, past all I/O servers.
namespace vmrun {

void write_past_io(std::string_view text, std::FILE* to = stdout);

}  // namespace vmrun

#pragma once

#include <string_view>

namespace vmrun::d::lang {

/// An option that the engine does not have but dtrace or the reader does.
bool known_option(std::string_view name);

}  // namespace vmrun::d::lang

#pragma once

#include <string>
#include <string_view>

#include "probes/engine/program.hpp"

namespace vmrun::d {

/// Sets an engine's option by dtrace's name (bufsize=4m, strsize, bufpolicy=ring ...). false: the
/// name is not an engine's, or with `why` filled in, the value is not one of its.
bool set_option(Options& options, std::string_view name, std::string_view value, std::string& why);

/// An option that the engine does not have but dtrace or the reader does.
bool known_option(std::string_view name);

}  // namespace vmrun::d

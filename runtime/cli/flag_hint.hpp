#pragma once

#include <string>
#include <string_view>
#include <vector>

/// What to tell who gave a flag that there is none of.
namespace vmrun::cli {

/// A sentence's rest, beginning with its semicolon. known: the names of the flags there are.
std::string hint_for_flag(std::string_view flag, const std::vector<std::string_view>& known);

}  // namespace vmrun::cli

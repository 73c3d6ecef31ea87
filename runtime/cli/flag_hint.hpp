// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Hints for a user who gave an unknown flag.
namespace vmrun::cli {

/// Returns the rest of an error message, beginning with a semicolon. known: the names of all flags.
std::string hint_for_flag(std::string_view flag, const std::vector<std::string_view>& known);

}  // namespace vmrun::cli

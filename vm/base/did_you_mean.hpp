// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

/// The end of a message about a name that does not exist. NearName (near_name.hpp) finds the one
/// that was meant. It has no state, so any thread may call it.
namespace vmrun {

/// Returns ", did you mean NAME?"; empty when there is no name. The words are OTP 27's.
inline std::string did_you_mean(std::string_view name) {
  return name.empty() ? std::string() : ", did you mean " + std::string(name) + "?";
}

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "probes/engine/program.hpp"

namespace vmrun::d {

/// Sets an engine's option by dtrace's name (bufsize=4m, strsize, bufpolicy=ring ...). Returns
/// false when the engine has no such option, or, with `why` filled in, when the option cannot have
/// this value.
bool set_option(Options& options, std::string_view name, std::string_view value, std::string& why);

/// Whether dtrace or the consumer has an option that the engine does not have.
bool known_option(std::string_view name);

/// Returns the option that a wrong name probably means, or an empty text. Options that have no
/// effect here are not named.
std::string_view option_like(std::string_view wrong);

/// Whether this is an option of the consumer that is on or off.
inline bool is_flag_option(std::string_view name) {
  constexpr std::string_view kFlags[] = {"quiet",    "flowindent", "errtags",   "droptags",
                                         "rawbytes", "aggsortkey", "aggsortrev"};
  return std::ranges::find(kFlags, name) != std::end(kFlags);
}

/// Reads yes, no and similar words, in capitals or not. Returns false for any other text.
inline bool read_flag(std::string_view text, bool& value) {
  constexpr std::string_view kOn[] = {"1", "yes", "true", "enable", "enabled", "on", "set"};
  constexpr std::string_view kOff[] = {"0", "no", "false", "disable", "disabled", "off", "unset"};
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  value = std::ranges::find(kOn, lower) != std::end(kOn);
  return value || std::ranges::find(kOff, lower) != std::end(kOff);
}

}  // namespace vmrun::d

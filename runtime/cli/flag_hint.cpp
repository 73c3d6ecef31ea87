// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/flag_hint.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "vm/base/near_name.hpp"

namespace vmrun::cli {
namespace {

/// Flags of erl that only OTP's own system uses.
constexpr std::string_view kOfSystem[] = {"-boot",  "-boot_var",   "-embedded", "-heart",
                                          "-instr", "-loader",     "-mode",     "-oldshell",
                                          "-remsh", "-init_debug", "-path",     "-shutdown_time"};

}  // namespace

std::string hint_for_flag(std::string_view flag, const std::vector<std::string_view>& known) {
  if (std::ranges::find(kOfSystem, flag) != std::end(kOfSystem))
    return "; OTP's own system knows it: 'erl' in the folder bin beside vmrun";
  const auto without_hyphens = [](std::string_view word) {
    return word.substr(std::min(word.find_first_not_of("-"), word.size()));
  };
  NearName near(without_hyphens(flag));
  std::string_view nearest;
  for (const std::string_view name : known) {
    if (without_hyphens(name) == without_hyphens(flag)) return fmt::format("; did you mean '{}'?", name);
    if (near.offer(without_hyphens(name))) nearest = name;
  }
  if (!nearest.empty()) return fmt::format("; did you mean '{}'?", nearest);
  return "; what is for the program stands behind its name";
}

}  // namespace vmrun::cli

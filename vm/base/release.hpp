// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>

#include "vm/base/release_table.hpp"

/// The release of OTP whose behaviour the machine has, and what programs and drivers are told of it
/// (erlang:system_info, driver_system_info): that of the installed system that it runs, or for
/// scripts that of their own library, which is the newest. release.tab lists what differs. All of
/// this is written before the first process starts, then only read.
namespace vmrun {

inline std::string erts_version = kNewestErts, otp_release = std::to_string(kNewestRelease);
inline bool runs_installed_system = false;
/// The number of otp_release.
inline int release_number = kNewestRelease;

namespace detail {
constexpr auto traits_of(int release, bool system) {
  std::array<bool, std::size(kTraits)> has{};
  for (std::size_t i = 0; i < has.size(); i++)
    has[i] = release >= kTraits[i].since && (system || !kTraits[i].system_only);
  return has;
}
inline std::array<bool, std::size(kTraits)> traits = traits_of(kNewestRelease, false);
}  // namespace detail

inline bool release_has(Trait trait) { return detail::traits[static_cast<std::size_t>(trait)]; }

/// Gives the machine the behaviour of a release; system: with what holds for OTP's own system only.
inline void use_release(int number, bool system) {
  release_number = number;
  detail::traits = detail::traits_of(number, system);
}

/// Makes the machine one of this release, which boots OTP's own system.
inline void follow_system(const std::string& release, int number, const std::string& erts) {
  runs_installed_system = true;
  otp_release = release;
  erts_version = erts;
  use_release(number, true);
}

}  // namespace vmrun

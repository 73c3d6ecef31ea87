// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/base/word.hpp"

/// The two numbers of a local pid, <0.Number.Serial>, as in texts and the external format. The
/// number has 15 bits and the serial 13, which 2^28 processes need: OTP up to 25 accepts no more
/// from a node that has no name. (OTP 26 and later accept 28 and 32.)
namespace vmrun {

inline constexpr unsigned kPidNumberBits = 15, kPidIdentityBits = 56;  // Term::id_number

constexpr Word pid_number(Word id) { return id & ((Word{1} << kPidNumberBits) - 1); }
constexpr Word pid_serial(Word id) { return id >> kPidNumberBits; }
constexpr bool is_pid_id(Word number, Word serial) {
  return number >> kPidNumberBits == 0 && serial >> (kPidIdentityBits - kPidNumberBits) == 0;
}
constexpr Word pid_id(Word number, Word serial) { return serial << kPidNumberBits | number; }

}  // namespace vmrun

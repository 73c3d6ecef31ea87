#pragma once

#include "vm/base/word.hpp"

/// The two numbers of a local pid, <0.Number.Serial>, as texts and the external format have them.
/// The number has 15 bits: OTP up to 25 accepts no more of a node that has no name, and 13 of the
/// serial, which 2^28 processes need. (OTP 26 and later takes 28 and 32.)
namespace vmrun {

inline constexpr unsigned kPidNumberBits = 15, kPidIdentityBits = 56;  // Term::id_number

constexpr Word pid_number(Word id) { return id & ((Word{1} << kPidNumberBits) - 1); }
constexpr Word pid_serial(Word id) { return id >> kPidNumberBits; }
constexpr bool is_pid_id(Word number, Word serial) {
  return number >> kPidNumberBits == 0 && serial >> (kPidIdentityBits - kPidNumberBits) == 0;
}
constexpr Word pid_id(Word number, Word serial) { return serial << kPidNumberBits | number; }

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/base/release.hpp"
#include "vm/base/word.hpp"

/// The two numbers of a local pid, <0.Number.Serial>, as in texts and the external format. They
/// have as many bits as the release accepts from a node that has no name: 15 and 13 up to OTP 25,
/// then 28 and 32. Either is enough for 2^28 processes.
namespace vmrun {

inline unsigned pid_number_bits() { return default_pid_number_bits(release_number); }
inline unsigned pid_serial_bits() { return default_pid_serial_bits(release_number); }

inline Word pid_number(Word id) { return id & ((Word{1} << pid_number_bits()) - 1); }
inline Word pid_serial(Word id) { return id >> pid_number_bits(); }
inline bool is_pid_id(Word number, Word serial) {
  return number >> pid_number_bits() == 0 && serial >> pid_serial_bits() == 0;
}
inline Word pid_id(Word number, Word serial) { return serial << pid_number_bits() | number; }

/// Whether a local port may have this number. (OTP 25 takes only those of 28 bits.)
inline bool is_port_number(Word number) { return number >> 60 == 0; }

}  // namespace vmrun

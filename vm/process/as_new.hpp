// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

namespace vmrun {

/// Whether an object equals, byte by byte, what its constructor makes of it, so that it may be
/// deleted and made again when it is needed. For objects that nothing else refers to. Bytes that
/// the constructor does not write are not compared (gaps, and members that are valid only when
/// others say so). They are found by constructing two objects over memory of different contents.
template <class T>
bool is_as_new(const T& object) {
  struct Made {
    alignas(T) std::uint8_t over_zeros[sizeof(T)] = {};
    alignas(T) std::uint8_t over_ones[sizeof(T)];
    Made() {
      for (std::uint8_t& b : over_ones) b = 0xFF;
      new (over_zeros) T;
      new (over_ones) T;
    }
  };
  static const Made& made = *new Made;  // never destroyed, and neither are the two objects
  const auto* bytes = reinterpret_cast<const volatile std::uint8_t*>(&object);
  for (std::size_t n = 0; n < sizeof(T); ++n)
    if (made.over_zeros[n] == made.over_ones[n] && bytes[n] != made.over_zeros[n]) return false;
  return true;
}

}  // namespace vmrun

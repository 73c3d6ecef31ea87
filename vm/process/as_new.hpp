#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

namespace vmrun {

/// Whether an object is, byte by byte, what its constructor makes of it, so that it may as well be
/// made again when it is needed. For objects that nobody else refers to. What the constructor does
/// not write (gaps, and members that others say the use of) is not compared: it is found by having
/// two made over memory of different contents.
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
  static const Made& made = *new Made;  // never destroyed, nor are the two
  const auto* bytes = reinterpret_cast<const volatile std::uint8_t*>(&object);
  for (std::size_t n = 0; n < sizeof(T); ++n)
    if (made.over_zeros[n] == made.over_ones[n] && bytes[n] != made.over_zeros[n]) return false;
  return true;
}

}  // namespace vmrun

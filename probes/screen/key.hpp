// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// A key of a terminal, whatever sequence it sends. Plain data.
namespace vmrun::screen {

struct Key {
  enum class Kind : std::uint8_t {
    kCharacter,
    kUp,
    kDown,
    kLeft,
    kRight,
    kPageUp,
    kPageDown,
    kHome,
    kEnd,
    kEnter,
    kEscape,
    kBackspace,
    kResize,  // not a key: the terminal has another size now
    kOther
  };
  Kind kind = Kind::kOther;
  char32_t character = 0;  // of kCharacter

  bool is(char c) const { return kind == Kind::kCharacter && character == static_cast<char32_t>(c); }
};

}  // namespace vmrun::screen

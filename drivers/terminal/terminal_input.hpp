// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

/// Texts of the terminal: UTF-8, in which a byte that belongs to no character stands for the
/// Latin-1 character of its number.
namespace vmrun::terminal {

/// Removes and returns the character at the front.
char32_t take_character(std::string_view* text);

/// Converts typed bytes to UTF-8 for the port's owner.
class Input {
 public:
  /// If the terminal does not send UTF-8, each byte is a Latin-1 character. Else an incomplete
  /// character at the end waits for its rest.
  std::string take(std::string_view bytes, bool utf8);
  /// Returns the waiting bytes when no more input follows.
  std::string take_rest();

 private:
  std::string waiting_;
};

}  // namespace vmrun::terminal

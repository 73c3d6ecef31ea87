#pragma once

#include <string>
#include <string_view>

/// Texts of the terminal: UTF-8, in which a byte that belongs to no character stands for the
/// Latin-1 character of its number.
namespace vmrun::terminal {

/// The character at the front, taken off it.
char32_t take_character(std::string_view* text);

/// What is typed, as UTF-8 for the port's owner.
class Input {
 public:
  /// Of a terminal that does not send UTF-8 each byte is a Latin-1 character; else a character of
  /// which the end is missing waits for the rest.
  std::string take(std::string_view bytes, bool utf8);
  /// Nothing more will come: what has waited.
  std::string take_rest();

 private:
  std::string waiting_;
};

}  // namespace vmrun::terminal

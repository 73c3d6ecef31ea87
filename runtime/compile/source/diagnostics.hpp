// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "runtime/compile/source/source.hpp"

/// The compiler's messages: errors and warnings with places. They are collected during compilation
/// and shown at the end in source order as `file:line:col: error: message`, the source line and a
/// caret. Owned by one compilation; one thread at a time.
namespace vmrun::compile {

enum class Severity : std::uint8_t { kError, kWarning };

struct Diagnostic {
  Severity severity;
  Loc loc;
  std::string message;
};

class Diagnostics {
 public:
  void error(Loc loc, std::string message);
  void warning(Loc loc, std::string message);

  bool has_errors() const { return errors_ > 0; }
  std::size_t error_count() const { return errors_; }
  std::size_t warning_count() const { return warnings_; }
  /// The messages in the order reported; `sort` brings them into source order and drops
  /// repetitions.
  const std::vector<Diagnostic>& all() const { return items_; }
  void sort();
  /// Turns every warning into an error (`-compile(warnings_as_errors)`).
  void promote_warnings();
  void drop_warnings();

  /// Returns the length, in characters, of the token at the front of a line's rest; it is
  /// underlined.
  using TokenLength = std::size_t (*)(std::string_view rest);
  /// Returns text for a terminal. in_colour: with escape sequences for colours. At most `limit`
  /// messages are shown; the others are counted.
  std::string render(const Sources& sources, TokenLength token_length, bool in_colour,
                     std::size_t limit = 100) const;

 private:
  std::vector<Diagnostic> items_;
  std::size_t errors_ = 0;
  std::size_t warnings_ = 0;
};

/// Returns ", did you mean NAME?" for the end of a message; empty when there is no name. The words
/// are OTP 27's.
std::string did_you_mean(const std::string& name);

/// Formats messages like printf; views are passed as `%.*s` with VIEW(x).
std::string format_message(const char* format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace vmrun::compile

#define VIEW(v) static_cast<int>((v).size()), (v).data()

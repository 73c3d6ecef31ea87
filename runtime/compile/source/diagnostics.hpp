#pragma once
// What the compiler has to say: errors and warnings with places, collected while it goes on and
// shown at the end in source order as `file:line:col: error: message`, the source line and a caret.
// Owned by one compilation; one thread at a time.

#include <string>
#include <vector>

#include "runtime/compile/source/source.hpp"

namespace vmrun::compile {

enum class Severity : uint8_t { kError, kWarning };

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
  size_t error_count() const { return errors_; }
  size_t warning_count() const { return warnings_; }
  /// In the order reported; `sort` brings them into source order and drops repetitions.
  const std::vector<Diagnostic>& all() const { return items_; }
  void sort();
  /// Turns every warning into an error (`-compile(warnings_as_errors)`).
  void promote_warnings();
  void drop_warnings();

  /// How many characters at the front of a line's rest belong together, to be underlined.
  using TokenLength = size_t (*)(std::string_view rest);
  /// Text for a terminal; in_colour: with its sequences for colours. At most `limit` messages; the
  /// rest is counted.
  std::string render(const Sources& sources, TokenLength token_length, bool in_colour,
                     size_t limit = 100) const;

 private:
  std::vector<Diagnostic> items_;
  size_t errors_ = 0;
  size_t warnings_ = 0;
};

/// ", did you mean NAME?" for the end of a message; empty when there is no name. As OTP 27 has it.
std::string did_you_mean(const std::string& name);

/// printf-style formatting of messages; views are passed as `%.*s` with VIEW(x).
std::string format_message(const char* format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace vmrun::compile

#define VIEW(v) static_cast<int>((v).size()), (v).data()

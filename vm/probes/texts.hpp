// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <charconv>
#include <cstring>
#include <limits>

#include "vm/probes/arguments.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/pid_numbers.hpp"
#include "vm/term/print.hpp"

/// Texts of terms for tracers. They are made on the stack of the thread that fires. Their length is
/// bounded, they are cut between characters, and end with a NUL. Only vm/probes/fire.cpp and a unit
/// test include this file. A text of a pid or a plain function takes some ten nanoseconds, and
/// nothing is initialised that is not written anyway.
namespace vmrun::probe {

/// Bytes because of which an atom may have to be quoted. Letters beyond ASCII need no quotes, but
/// the slow path decides that.
inline constexpr auto kIsOdd = [] {
  std::array<bool, 256> odd{};
  for (unsigned c = 0; c < 256; ++c)
    odd[c] = !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || c == '_');
  return odd;
}();

/// A process or port; `absent` for the non-value.
class PidText {
 public:
  PidText(Term who, const char* absent) {
    if (who && who.is_local_pid()) [[likely]]
      local_pid(who.id_number());
    else other(who, absent);
  }
  operator const char*() const { return bytes_; }

 private:
  void local_pid(Word number) {
    char* next = bytes_;
    *next++ = '<';
    *next++ = '0';
    *next++ = '.';
    next = std::to_chars(next, next + kDigits, pid_number(number)).ptr;
    *next++ = '.';
    next = std::to_chars(next, next + kDigits, pid_serial(number)).ptr;
    *next++ = '>';
    *next = 0;
  }
  void other(Term who, const char* absent);

  static constexpr std::size_t kDigits = 20;  // no number has more
  static constexpr std::size_t kBytes = 64;
  char bytes_[kBytes];
};

class FunctionText {
 public:
  explicit FunctionText(const FunctionArgument& f) {
    char* next = f.module ? plain(bytes_, f.module) : nullptr;
    if (next) *next++ = ':';
    if (next) next = plain(next, f.function);
    if (next) {
      *next++ = '/';
      *std::to_chars(next, bytes_ + kBytes, f.arity).ptr = 0;
    } else {
      other(f);
    }
  }
  operator const char*() const { return bytes_; }

 private:
  static constexpr std::size_t kBytes = 256;
  static constexpr std::size_t kRoomAfter = 16;  // for what follows a name on the fast path

  /// Appends an atom that needs no quotes and fits. Returns nullptr for others.
  char* plain(char* next, Term atom) const {
    const std::string_view text = atom_text(atom);
    if (text.empty() || !(text[0] >= 'a' && text[0] <= 'z') ||
        text.size() + kRoomAfter > static_cast<std::size_t>(bytes_ + kBytes - next))
      return nullptr;
    unsigned odd = 0;
    for (const char c : text) odd |= kIsOdd[static_cast<unsigned char>(c)];
    if (odd) return nullptr;
    std::memcpy(next, text.data(), text.size());
    return next + text.size();
  }
  void other(const FunctionArgument& f);

  char bytes_[kBytes];
};

/// kBytes is one more than the longest visible text. The non-value shows as NULL.
template <std::size_t kBytes>
class TermText {
 public:
  explicit TermText(Term t) : there_(t) {
    BoundedText out(bytes_, kBytes);
    if (t) print_term(out, t);
  }
  operator const char*() const { return there_ ? bytes_ : nullptr; }

 private:
  bool there_;
  char bytes_[kBytes];
};

/// The name of a node, without quotes.
class NodeText {
 public:
  static constexpr std::size_t kMostBytes = 255;
  /// most_bytes is at most kMostBytes.
  NodeText(Term node, std::size_t most_bytes) { BoundedText(bytes_, most_bytes + 1).put(atom_text(node)); }
  operator const char*() const { return bytes_; }

 private:
  char bytes_[kMostBytes + 1];
};

/// NULL for a term that is not an iolist or is too long.
class IolistText {
 public:
  explicit IolistText(Term t);
  operator const char*() const { return text_; }

 private:
  const char* text_ = nullptr;
  char bytes_[kIolistBytes + 1];
};

/// Clamps a number to the range of T, because scripts compare sizes and must not see small or
/// negative ones.
template <class T, class From>
T saturated(From n) {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_signed_v<From>)
    if (n < static_cast<From>(Limits::min())) return Limits::min();
  return n > static_cast<From>(Limits::max()) ? Limits::max() : static_cast<T>(n);
}

}  // namespace vmrun::probe

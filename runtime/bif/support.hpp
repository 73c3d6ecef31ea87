// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "vm/heap/build.hpp"
#include "vm/heap/text.hpp"
#include "vm/process/bif.hpp"
#include "vm/term/layout.hpp"
#include "vm/term/print.hpp"

/// Small helpers that most built-in functions need: they make lists and texts, and read arguments.
/// The rules of built-in functions apply (vm/process/bif.hpp).
namespace vmrun {

inline constexpr Word kMaxTupleElements = (1u << 24) - 1;

/// Makes a list of the bytes, followed by `tail`.
Term byte_list(Heap& heap, const std::uint8_t* bytes, Word count, Term tail = Term::nil());
inline Term text_list(Heap& heap, std::string_view ascii) {
  return byte_list(heap, reinterpret_cast<const std::uint8_t*>(ascii.data()), ascii.size());
}
Term text_binary(Heap& heap, std::string_view bytes);

/// Converts a flat list of Unicode code points to UTF-8; returns false for anything else.
[[nodiscard]] bool list_to_utf8(Term list, std::string* out);
/// Converts a flat list of bytes; returns false for anything else.
[[nodiscard]] bool list_to_bytes(Term list, std::string* out);
std::size_t utf8_characters(std::string_view valid_utf8);

[[nodiscard]] inline bool read_boolean(Term t, bool* out) {
  if (t != atoms::true_ && t != atoms::false_) return false;
  *out = t == atoms::true_;
  return true;
}
/// Reads an integer least ≤ n ≤ most.
[[nodiscard]] inline bool small_in_range(Term t, SWord least, SWord most, SWord* out) {
  if (!t.is_small()) return false;
  *out = t.small_value();
  return *out >= least && *out <= most;
}

/// Charges reductions for this many elementary steps (list cells, words, …).
inline void charge(Process& p, SWord steps) { bump_reductions(p, steps / 8); }

}  // namespace vmrun

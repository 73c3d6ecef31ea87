#pragma once

#include <string>
#include <string_view>

#include "vm/heap/build.hpp"
#include "vm/heap/text.hpp"
#include "vm/process/bif.hpp"
#include "vm/term/layout.hpp"
#include "vm/term/print.hpp"

/// Small things most built-in functions need: lists and texts as terms, reading arguments. Same
/// rules as the functions themselves (vm/process/bif.hpp).
namespace vmrun {

inline constexpr Word kMaxTupleElements = (1u << 24) - 1;

/// A list of the bytes in front of `tail`.
Term byte_list(Heap& heap, const std::uint8_t* bytes, Word count, Term tail = Term::nil());
inline Term text_list(Heap& heap, std::string_view ascii) {
  return byte_list(heap, reinterpret_cast<const std::uint8_t*>(ascii.data()), ascii.size());
}
Term text_binary(Heap& heap, std::string_view bytes);

/// The characters of a flat list of Unicode code points, as UTF-8; false for anything else.
[[nodiscard]] bool list_to_utf8(Term list, std::string* out);
/// A flat list of bytes; false for anything else.
[[nodiscard]] bool list_to_bytes(Term list, std::string* out);
std::size_t utf8_characters(std::string_view valid_utf8);

[[nodiscard]] inline bool read_boolean(Term t, bool* out) {
  if (t != atoms::true_ && t != atoms::false_) return false;
  *out = t == atoms::true_;
  return true;
}
/// An integer argument 0 ≤ n ≤ most.
[[nodiscard]] inline bool small_in_range(Term t, SWord least, SWord most, SWord* out) {
  if (!t.is_small()) return false;
  *out = t.small_value();
  return *out >= least && *out <= most;
}

/// Work of this many elementary steps (list cells, words, …) as reductions.
inline void charge(Process& p, SWord steps) { bump_reductions(p, steps / 8); }

}  // namespace vmrun

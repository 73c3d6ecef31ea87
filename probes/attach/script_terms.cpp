// SPDX-License-Identifier: Apache-2.0
#include "probes/attach/script_terms.hpp"

#include <cstring>

#include "vm/process/return_address.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/big.hpp"
#include "vm/term/bits.hpp"
#include "vm/term/map.hpp"
#include "vm/term/term.hpp"

namespace vmrun::attach {

using d::Subroutine;

namespace {

constexpr std::int64_t kLongestList = 65536;

bool size_of(Term t, std::int64_t& out) {
  if (t.is_tuple()) out = static_cast<std::int64_t>(t.tuple_arity());
  else if (t.is_map()) out = static_cast<std::int64_t>(map_size(t));
  else if (t.is_bitstring()) out = static_cast<std::int64_t>((bit_size_of(t) + 7) / 8);
  else return false;
  return true;
}

bool length_of(Term t, std::int64_t& out) {
  out = 0;
  for (; t.is_list() && out < kLongestList; t = t.tail()) ++out;
  return t.is_nil() || out == kLongestList;
}

/// A binary in the C stack, with which a key is looked up. A script cannot look up longer ones: a
/// key of more than kHeapBinaryMaxBytes has no name.
class KeyBinary {
 public:
  explicit KeyBinary(std::string_view bytes) {
    words_[0] = Term::header(Term::Sub::kHeapBinary, 1 + (bytes.size() + 7) / 8);
    words_[1] = Term::from_raw(bytes.size());
    std::memcpy(&words_[2], bytes.data(), bytes.size());
  }
  Term term() const { return Term::boxed(words_); }

 private:
  Term words_[2 + kHeapBinaryMaxBytes / 8]{};
};

}  // namespace

bool term_part(Subroutine subroutine, std::uint64_t term, std::int64_t n, std::uint64_t& out) {
  const Term t = Term::from_raw(term);
  if (!t) return false;
  switch (subroutine) {
    case Subroutine::kHd:
      if (!t.is_list()) return false;
      out = t.head().raw();
      return true;
    case Subroutine::kTl:
      if (!t.is_list()) return false;
      out = t.tail().raw();
      return true;
    case Subroutine::kElement:
      if (!t.is_tuple() || n < 1 || static_cast<Word>(n) > t.tuple_arity()) return false;
      out = t.element(static_cast<Word>(n) - 1).raw();
      return true;
    default: return false;
  }
}

bool map_value(std::uint64_t map, std::int64_t key, std::uint64_t& out) {
  const Term m = Term::from_raw(map);
  if (!m || !m.is_map()) return false;
  out = Term::fits_small(key) ? map_get(m, Term::small(key)).raw() : 0;
  return true;
}

bool map_value(std::uint64_t map, std::string_view key, std::uint64_t& out) {
  const Term m = Term::from_raw(map);
  if (!m || !m.is_map()) return false;
  Term found = kNonValue;
  if (const Term atom = existing_atom(key)) found = map_get(m, atom);
  if (!found && key.size() <= kHeapBinaryMaxBytes) found = map_get(m, KeyBinary(key).term());
  out = found.raw();
  return true;
}

bool term_number(Subroutine subroutine, std::uint64_t term, std::int64_t& out) {
  const Term t = Term::from_raw(term);
  if (!t) return false;
  switch (subroutine) {
    case Subroutine::kSize: return size_of(t, out);
    case Subroutine::kListLength: return length_of(t, out);
    case Subroutine::kTerm2int: return t.is_integer() && integer_to_int64(t, &out);
    case Subroutine::kIsAtom: out = t.is_atom(); return true;
    case Subroutine::kIsInteger: out = t.is_integer(); return true;
    case Subroutine::kIsFloat: out = t.is_float(); return true;
    case Subroutine::kIsTuple: out = t.is_tuple(); return true;
    case Subroutine::kIsList: out = t.is_list() || t.is_nil(); return true;
    case Subroutine::kIsMap: out = t.is_map(); return true;
    case Subroutine::kIsBinary: out = is_binary(t); return true;
    case Subroutine::kIsPid: out = t.is_pid(); return true;
    case Subroutine::kIsPort: out = t.is_port(); return true;
    case Subroutine::kIsReference: out = t.is_ref(); return true;
    case Subroutine::kIsFunction: out = t.is_fun(); return true;
    default: return false;
  }
}

namespace {

// Finds return addresses as stack traces do: they are the words on a stack with a header's tag.
template <class Take>
std::size_t frames_of(const Process& p, const Word* innermost, std::size_t most, Take&& take) {
  std::size_t n = 0;
  std::uint64_t previous = reinterpret_cast<std::uintptr_t>(innermost);
  if (innermost && n < most) take(n++, previous);
  const Term* stop = p.heap.stop;
  if (stop < p.heap.start || stop > p.heap.end) return n;
  const Term* bottom = p.heap.end - 1;  // where the machine's own code goes on
  for (const Term* s = stop; s < bottom && n < most; ++s) {
    if (!is_return_address(*s) || s->raw() == previous) continue;
    previous = s->raw();
    take(n++, s->raw() - 1);  // inside the call instruction
  }
  return n;
}

}  // namespace

std::size_t stack_of(const Process& p, const Word* innermost, std::uint64_t* out, std::size_t most) {
  return frames_of(p, innermost, most, [out](std::size_t n, std::uint64_t address) { out[n] = address; });
}

std::size_t stack_depth_of(const Process& p, const Word* innermost, std::size_t most) {
  return frames_of(p, innermost, most, [](std::size_t, std::uint64_t) {});
}

}  // namespace vmrun::attach

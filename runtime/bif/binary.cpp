// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "runtime/bif/internal_state.hpp"
#include "runtime/bif/reduction_budget.hpp"
#include "runtime/bif/support.hpp"
#include "vm/term/big.hpp"
#include "vm/term/bits.hpp"

/// Parts and bytes of binaries: module binary (except searching, which is in binary_search.cpp) and
/// related functions of module erlang.
namespace vmrun {
namespace {

Word byte_count(Term binary) { return bit_size_of(binary) / 8; }

/// Part of a binary given by position and length, which may be negative to count backwards.
bool part_range(Term binary, Term position, Term length, Word* from, Word* count) {
  if (!binary.is_bitstring()) return false;  // positions in a bit string count its whole bytes
  const auto size = static_cast<SWord>(byte_count(binary));
  SWord at, n;
  if (!small_in_range(position, 0, size, &at) || !small_in_range(length, -size, size, &n)) return false;
  if (n < 0) {
    at += n;
    n = -n;
  }
  if (at < 0 || at + n > size) return false;
  *from = static_cast<Word>(at);
  *count = static_cast<Word>(n);
  return true;
}

Term part(Process& p, Term binary, Term position, Term length) {
  Word from, count;
  if (release_has(Trait::kWholeBinaries) && !is_binary(binary)) return raise_badarg(p);
  return part_range(binary, position, length, &from, &count) ? make_part(p.heap, binary, from * 8, count * 8)
                                                             : raise_badarg(p);
}

Term byte_at(Term binary, Word i) {
  const BitView v = bits_of(binary);
  std::uint8_t b = 0;
  copy_bits(&b, 0, v.base, v.offset_bits + 8 * i, 8);
  return Term::small(b);
}

bool endian_argument(Term t, bool* little) {
  if (t != intern_atom("little") && t != intern_atom("big")) return false;
  *little = t == intern_atom("little");
  return true;
}

Term encode_unsigned(Process& p, const Term* a, unsigned arity, BifFn self, bool little) {
  const Term n = a[0];
  if (!n.is_integer() || IntView(n).negative()) return raise_badarg(p);
  const Word size = std::max<Word>(integer_magnitude_bytes(n), 1);
  if (too_long(size / kBytesPerStep)) return run_on_dirty(p, self, a, arity);
  std::uint8_t* bytes;
  const Term t = new_binary(p.heap, size, &bytes);
  integer_to_bytes(n, bytes, size, little);
  return t;
}

Term decode_unsigned(Process& p, const Term* a, unsigned arity, BifFn self, bool little) {
  if (!is_binary(a[0])) return raise_badarg(p);
  if (too_long(byte_count(a[0]) / kBytesPerStep)) return run_on_dirty(p, self, a, arity);
  const BytesOf bytes(a[0]);
  const Term n = integer_from_bytes(p.heap, bytes.data(), bytes.size(), little, false);
  return n ? n : raise_system_limit(p);
}

Term copies(Process& p, const Term* a, unsigned arity, BifFn self, Term count_term) {
  const Term binary = a[0];
  SWord count;
  if (!release_has(Trait::kWholeBinaries) && binary.is_bitstring() && count_term == Term::small(0))
    return make_binary(p.heap, nullptr, 0);
  if (!is_binary(binary) || !small_in_range(count_term, 0, Term::kSmallMax, &count)) return raise_badarg(p);
  const BytesOf bytes(binary);
  Word total;
  if (__builtin_mul_overflow(bytes.size(), static_cast<Word>(count), &total) || total > max_binary_bits() / 8)
    return raise_system_limit(p);
  if (too_long(total / kBytesPerStep)) return run_on_dirty(p, self, a, arity);
  charge(p, static_cast<SWord>(total / 8));
  std::uint8_t* out;
  const Term t = new_binary(p.heap, total, &out);
  for (SWord i = 0; i < count && bytes.size(); ++i, out += bytes.size())
    std::memcpy(out, bytes.data(), bytes.size());
  return t;
}

/// Returns the length of the common prefix or suffix of a list of binaries.
Term longest_common(Process& p, const Term* a, BifFn self, bool suffix) {
  ReductionBudget steps(binary_loop_limit);
  Term list = a[0];
  if (!list.is_list() || !is_binary(list.head())) return raise_badarg(p);
  const BytesOf first(list.head());
  Word n = first.size();
  for (list = list.tail(); list.is_list(); list = list.tail()) {
    if (!is_binary(list.head())) return raise_badarg(p);
    const BytesOf other(list.head());
    const Word most = std::min(n, other.size());
    if (!steps.spend(1 + most / kBytesPerStep)) return run_on_dirty(p, self, a, 1);
    n = 0;
    while (n < most && (suffix ? first.data()[first.size() - 1 - n] == other.data()[other.size() - 1 - n]
                               : first.data()[n] == other.data()[n]))
      ++n;
    charge(p, static_cast<SWord>(n));
  }
  return list.is_nil() ? Term::small(static_cast<SWord>(n)) : raise_badarg(p);
}

}  // namespace

Term bif_erlang_binary_part_3(Process& p, const Term* a) { return part(p, a[0], a[1], a[2]); }
Term bif_erlang_binary_part_2(Process& p, const Term* a) {
  if (!a[1].is_tuple() || a[1].tuple_arity() != 2) return raise_badarg(p);
  return part(p, a[0], a[1].element(0), a[1].element(1));
}

Term bif_erlang_split_binary_2(Process& p, const Term* a) {
  SWord at;
  if (!a[0].is_bitstring() || !small_in_range(a[1], 0, static_cast<SWord>(bit_size_of(a[0]) / 8), &at))
    return raise_badarg(p);
  const Word cut = static_cast<Word>(at) * 8;
  const Term first = make_part(p.heap, a[0], 0, cut);
  return new_tuple(p.heap, first, make_part(p.heap, a[0], cut, bit_size_of(a[0]) - cut));
}

Term bif_binary_at_2(Process& p, const Term* a) {
  SWord i;
  if (!is_binary(a[0]) || !small_in_range(a[1], 0, static_cast<SWord>(byte_count(a[0])) - 1, &i))
    return raise_badarg(p);
  return byte_at(a[0], static_cast<Word>(i));
}
Term bif_binary_first_1(Process& p, const Term* a) {
  return is_binary(a[0]) && byte_count(a[0]) ? byte_at(a[0], 0) : raise_badarg(p);
}
Term bif_binary_last_1(Process& p, const Term* a) {
  return is_binary(a[0]) && byte_count(a[0]) ? byte_at(a[0], byte_count(a[0]) - 1) : raise_badarg(p);
}

Term bif_binary_copy_1(Process& p, const Term* a) {
  return copies(p, a, 1, bif_binary_copy_1, Term::small(1));
}
Term bif_binary_copy_2(Process& p, const Term* a) { return copies(p, a, 2, bif_binary_copy_2, a[1]); }

Term bif_binary_encode_unsigned_1(Process& p, const Term* a) {
  return encode_unsigned(p, a, 1, bif_binary_encode_unsigned_1, false);
}
Term bif_binary_encode_unsigned_2(Process& p, const Term* a) {
  bool little;
  return endian_argument(a[1], &little) ? encode_unsigned(p, a, 2, bif_binary_encode_unsigned_2, little)
                                        : raise_badarg(p);
}
Term bif_binary_decode_unsigned_1(Process& p, const Term* a) {
  return decode_unsigned(p, a, 1, bif_binary_decode_unsigned_1, false);
}
Term bif_binary_decode_unsigned_2(Process& p, const Term* a) {
  bool little;
  return endian_argument(a[1], &little) ? decode_unsigned(p, a, 2, bif_binary_decode_unsigned_2, little)
                                        : raise_badarg(p);
}

Term bif_binary_referenced_byte_size_1(Process& p, const Term* a) {
  if (!a[0].is_bitstring()) return raise_badarg(p);
  const Term t = original_of(a[0]);
  const Term* o = t.boxed_ptr();
  Word bytes = byte_count(t);
  if (o->header_sub() == Term::Sub::kRefcBinary)
    if (const Binary& binary = *reinterpret_cast<const RefcBinary*>(o)->binary; !binary.is_native())
      bytes = binary.capacity_bytes;
  return Term::small(static_cast<SWord>(bytes));
}

Term bif_binary_longest_common_prefix_1(Process& p, const Term* a) {
  return longest_common(p, a, bif_binary_longest_common_prefix_1, false);
}
Term bif_binary_longest_common_suffix_1(Process& p, const Term* a) {
  return longest_common(p, a, bif_binary_longest_common_suffix_1, true);
}

}  // namespace vmrun

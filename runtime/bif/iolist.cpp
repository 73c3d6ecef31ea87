// SPDX-License-Identifier: Apache-2.0
#include "runtime/bif/iolist.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/bif/reduction_budget.hpp"
#include "runtime/bif/support.hpp"
#include "vm/term/big.hpp"
#include "vm/term/bits_append.hpp"

/// Conversions between lists of bytes and binaries.
namespace vmrun {

namespace {

/// Calls add(bits) for each byte and binary. Returns false when the term is not iodata, or when the
/// steps do not suffice.
template <class Add>
bool sum_iodata(Term t, bool whole_bytes, ReductionBudget& steps, Add add) {
  ReductionBudget left = steps;
  const bool ok = walk_iodata(
      t, [&](std::uint8_t) { add(8); },
      [&](Term b) {
        const Word size = bit_size_of(b);
        add(size);
        return !whole_bytes || (size & 7) == 0;
      },
      [&] { return left.spend(1); });
  steps = left;
  return ok;
}

/// More than any memory holds; with another binary added it still fits a word.
constexpr Word kTooManyBits = Word{1} << 61;

}  // namespace

SWord iodata_bits(Term t, bool whole_bytes, ReductionBudget& steps) {
  Word n = 0;
  const bool ok = sum_iodata(t, whole_bytes, steps, [&](Word bits) { n = std::min(n + bits, kTooManyBits); });
  return ok ? static_cast<SWord>(n) : -1;
}

namespace {

Term whole_bytes_of(Heap& heap, Term t, Word size) {
  std::uint8_t* out;
  const Term result = new_binary(heap, size, &out);
  walk_iodata(
      t, [&](std::uint8_t b) { *out++ = b; },
      [&](Term b) {
        const BitView v = bits_of(b);
        if (v.aligned()) std::memcpy(out, v.bytes(), v.size_bytes());
        else copy_bits(out, 0, v.base, v.offset_bits, v.size_bits);
        out += v.size_bits / 8;
        return true;
      });
  return result;
}

}  // namespace

Term iodata_to_bitstring(Heap& heap, Term t, bool whole_bytes, ReductionBudget& steps) {
  const SWord bits = iodata_bits(t, whole_bytes, steps);
  if (bits < 0 || !steps.spend(static_cast<Word>(bits) / 64)) return kNonValue;
  if (whole_bytes) return whole_bytes_of(heap, t, static_cast<Word>(bits) / 8);
  BitBuilder builder;
  const Term result = bs_new(heap, static_cast<Word>(bits), &builder);
  walk_iodata(
      t, [&](std::uint8_t b) { (void)builder.put_integer(Term::small(b), 8, 0); },
      [&](Term b) { return builder.put_all(b, 1); });
  return result;
}

namespace {

Term to_bitstring(Process& p, const Term* a, bool whole_bytes, BifFn self) {
  ReductionBudget steps;
  const Term result = iodata_to_bitstring(p.heap, a[0], whole_bytes, steps);
  if (!result) return steps.used_up() ? run_on_dirty(p, self, a, 1) : raise_badarg(p);
  charge(p, static_cast<SWord>(bit_size_of(result) / 8));
  return result;
}

/// Returns the bytes first…last (zero-based, last excluded) of a binary, followed by the list
/// `tail`.
Term list_of(Process& p, Term bin, Word first, Word last, Term tail) {
  const BitView v = bits_of(bin);
  charge(p, static_cast<SWord>(last - first));
  if (v.aligned()) return byte_list(p.heap, v.bytes() + first, last - first, tail);
  Term list = tail;
  Term* hp = p.heap.alloc(2 * (last - first));
  for (Word i = last; i-- > first;) {
    std::uint8_t b = 0;
    copy_bits(&b, 0, v.base, v.offset_bits + 8 * i, 8);
    list = make_cons(hp, Term::small(b), list);
  }
  return list;
}

}  // namespace

Term bif_erlang_iolist_size_1(Process& p, const Term* a) {
  ReductionBudget steps;
  Word bytes = 0;  // may exceed any memory, if one binary is in a list many times
  if (!sum_iodata(a[0], true, steps, [&](Word bits) { bytes += bits / 8; }))
    return steps.used_up() ? run_on_dirty(p, bif_erlang_iolist_size_1, a, 1) : raise_badarg(p);
  charge(p, static_cast<SWord>(bytes / 8));
  return make_unsigned(p.heap, bytes);
}

Term bif_erlang_iolist_to_binary_1(Process& p, const Term* a) {
  return is_binary(a[0]) ? a[0] : to_bitstring(p, a, true, bif_erlang_iolist_to_binary_1);
}
Term bif_erlang_list_to_binary_1(Process& p, const Term* a) {
  return a[0].is_cons_or_nil() ? to_bitstring(p, a, true, bif_erlang_list_to_binary_1) : raise_badarg(p);
}
Term bif_erlang_list_to_bitstring_1(Process& p, const Term* a) {
  return a[0].is_cons_or_nil() ? to_bitstring(p, a, false, bif_erlang_list_to_bitstring_1) : raise_badarg(p);
}

/// Runs of bytes and small binaries are gathered, larger binaries stay as they are.
Term bif_erlang_iolist_to_iovec_1(Process& p, const Term* a) {
  ReductionBudget steps;
  std::string gathered;
  ListBuilder list(p.heap);
  const auto flush = [&] {
    if (!gathered.empty()) list.add(text_binary(p.heap, gathered));
    gathered.clear();
  };
  const bool ok = walk_iodata(
      a[0], [&](std::uint8_t b) { gathered += static_cast<char>(b); },
      [&](Term b) {
        const Word bits = bit_size_of(b);
        if (bits & 7) return false;
        if (bits > kHeapBinaryMaxBytes * 8) {
          flush();
          list.add(b);
        } else {
          const BytesOf bytes(b);
          gathered.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        }
        return true;
      },
      [&] { return steps.spend(1); });
  if (!ok) return steps.used_up() ? run_on_dirty(p, bif_erlang_iolist_to_iovec_1, a, 1) : raise_badarg(p);
  flush();
  return list.finish();
}

Term bif_erlang_binary_to_list_1(Process& p, const Term* a) {
  if (!is_binary(a[0])) return raise_badarg(p);
  const Word bytes = bit_size_of(a[0]) / 8;
  if (too_long(bytes)) return run_on_dirty(p, bif_erlang_binary_to_list_1, a, 1);
  return list_of(p, a[0], 0, bytes, Term::nil());
}

Term bif_erlang_binary_to_list_3(Process& p, const Term* a) {
  SWord from, to;
  if (!a[0].is_bitstring()) return raise_badarg(p);
  const auto size = static_cast<SWord>(bit_size_of(a[0]) / 8);
  if (!small_in_range(a[1], 1, size, &from) || !small_in_range(a[2], from, size, &to)) return raise_badarg(p);
  if (too_long(static_cast<Word>(to - from))) return run_on_dirty(p, bif_erlang_binary_to_list_3, a, 3);
  return list_of(p, a[0], static_cast<Word>(from - 1), static_cast<Word>(to), Term::nil());
}

Term bif_erlang_bitstring_to_list_1(Process& p, const Term* a) {
  if (!a[0].is_bitstring()) return raise_badarg(p);
  const Word bits = bit_size_of(a[0]), bytes = bits / 8;
  if (too_long(bytes)) return run_on_dirty(p, bif_erlang_bitstring_to_list_1, a, 1);
  Term tail = Term::nil();
  if (bits & 7) {
    Term* hp = p.heap.alloc(2);
    const BitView v = bits_of(a[0]);
    tail = make_cons(hp, make_bitstring(p.heap, v.base, v.offset_bits + 8 * bytes, bits & 7), Term::nil());
  }
  return list_of(p, a[0], 0, bytes, tail);
}

/// binary:bin_to_list/3 and relatives, and binary:list_to_bin/1.
Term bif_binary_list_to_bin_1(Process& p, const Term* a) { return bif_erlang_list_to_binary_1(p, a); }
Term bif_binary_bin_to_list_1(Process& p, const Term* a) { return bif_erlang_binary_to_list_1(p, a); }

Term bif_binary_bin_to_list_3(Process& p, const Term* a) {
  SWord from, length;
  if (!is_binary(a[0])) return raise_badarg(p);
  const auto size = static_cast<SWord>(bit_size_of(a[0]) / 8);
  if (!small_in_range(a[1], 0, size, &from) || !small_in_range(a[2], -size, size, &length))
    return raise_badarg(p);
  if (length < 0) {
    from += length;
    length = -length;
  }
  if (from < 0 || from + length > size) return raise_badarg(p);
  if (too_long(static_cast<Word>(length))) return run_on_dirty(p, bif_binary_bin_to_list_3, a, 3);
  return list_of(p, a[0], static_cast<Word>(from), static_cast<Word>(from + length), Term::nil());
}

Term bif_binary_bin_to_list_2(Process& p, const Term* a) {
  if (!a[1].is_tuple() || a[1].tuple_arity() != 2) return raise_badarg(p);
  const Term args[3] = {a[0], a[1].element(0), a[1].element(1)};
  return bif_binary_bin_to_list_3(p, args);
}

}  // namespace vmrun

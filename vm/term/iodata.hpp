// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/base/work_stack.hpp"
#include "vm/term/bits.hpp"

/// Iodata: bytes and bit strings in lists of any depth.
namespace vmrun {

/// Calls bytes(b) for each byte and bits(term) for each bit string, in order, and cell() for each
/// cell. Returns false when `t` is not iodata, or when bits() or cell() returns false. A list's
/// tail may be a bit string, as Erlang allows.
template <class ByteFn, class BitsFn, class CellFn>
bool walk_iodata(Term t, ByteFn byte, BitsFn bits, CellFn cell) {
  WorkStack<Term> tails;
  for (;;) {
    while (t.is_list()) {
      if (!cell()) [[unlikely]]
        return false;
      const Term head = t.head();
      t = t.tail();
      if ((head.raw() & ~Word{0xFF0}) == Term::small(0).raw()) {  // a small integer of eight bits
        byte(static_cast<std::uint8_t>(head.raw() >> 4));
      } else if (head.is_list()) {
        if (!t.is_nil()) tails.push(t);
        t = head;
      } else if (head.is_bitstring()) {
        if (!bits(head)) return false;
      } else if (!head.is_nil()) {
        return false;
      }
    }
    if (t.is_bitstring() ? !bits(t) : !t.is_nil()) return false;
    if (tails.empty()) return true;
    t = tails.pop();
  }
}
template <class ByteFn, class BitsFn>
[[gnu::always_inline]] inline bool walk_iodata(Term t, ByteFn byte, BitsFn bits) {
  return walk_iodata(t, byte, bits, [] { return true; });
}

}  // namespace vmrun

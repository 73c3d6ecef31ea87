#pragma once

#include <vector>

#include "vm/term/bits.hpp"

/// Iodata: bytes and bit strings in lists of any depth.
namespace vmrun {

/// Calls bytes(b) for each byte and bits(term) for each bit string, in order. false when `t` is no
/// iodata. A list's tail may be a bit string, as Erlang allows.
template <class ByteFn, class BitsFn>
bool walk_iodata(Term t, ByteFn byte, BitsFn bits) {
  std::vector<Term> tails;
  for (;;) {
    while (t.is_list()) {
      const Term head = t.head();
      t = t.tail();
      if (head.is_small()) {
        const SWord b = head.small_value();
        if (b < 0 || b > 255) return false;
        byte(static_cast<std::uint8_t>(b));
      } else if (head.is_list()) {
        if (!t.is_nil()) tails.push_back(t);
        t = head;
      } else if (head.is_bitstring()) {
        if (!bits(head)) return false;
      } else if (!head.is_nil()) {
        return false;
      }
    }
    if (t.is_bitstring() ? !bits(t) : !t.is_nil()) return false;
    if (tails.empty()) return true;
    t = tails.back();
    tails.pop_back();
  }
}

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#include "probes/d/emit/arithmetic.hpp"

#include <algorithm>

namespace vmrun::d::lang {

void Arithmetic::fit(unsigned r, TypeId type) {
  const std::uint32_t bytes = types_.bytes(type);
  if (!types_.is_integer(type) || bytes >= 8) return;
  code_.put(types_.is_signed(type) ? Operation::kSext : Operation::kZext, r, r, bytes * 8);
}

void Arithmetic::convert(unsigned r, TypeId from, TypeId to, bool is_cut) {
  const CType &f = types_.base(from), &t = types_.base(to);
  if (!types_.is_integer(to)) return;
  if (types_.is_integer(from)) {
    if (f.bytes < t.bytes && !is_cut) fit(r, from);
    if (f.bytes < t.bytes && (!f.is_signed || t.is_signed)) return;
    if (f.bytes == t.bytes && f.is_signed == t.is_signed && is_cut) return;
  }
  fit(r, to);
}

void Arithmetic::truth(unsigned r) {
  const unsigned zero = code_.take();
  code_.number(zero, 0);
  code_.put(Operation::kSne, r, r, zero);
  code_.free_from(zero);
}

void Arithmetic::scale(unsigned r, std::uint64_t bytes) {
  if (bytes == 1) return;
  const unsigned factor = code_.take();
  code_.number(factor, bytes);
  code_.put(Operation::kMul, r, r, factor);
  code_.free_from(factor);
}

void Arithmetic::binary(Op op, TypeId type, unsigned a, unsigned b) {
  const bool is_signed = types_.is_signed(type);
  const auto with = [&](Operation operation) { code_.put(operation, a, a, b); };
  switch (op) {
    case Op::kAdd: with(Operation::kAdd); return;
    case Op::kSub: with(Operation::kSub); return;
    case Op::kMul: with(Operation::kMul); return;
    case Op::kDiv: with(is_signed ? Operation::kSdiv : Operation::kUdiv); return;
    case Op::kRem: with(is_signed ? Operation::kSrem : Operation::kUrem); return;
    case Op::kAnd: with(Operation::kAnd); return;
    case Op::kOr: with(Operation::kOr); return;
    case Op::kXor: with(Operation::kXor); return;
    case Op::kShl: with(Operation::kSll); return;
    case Op::kShr: with(is_signed ? Operation::kSra : Operation::kSrl); return;
    default: return;
  }
}

std::uint64_t Arithmetic::pointed_bytes(TypeId pointer) const {
  return std::max<std::uint32_t>(types_.bytes(types_.base(pointer).element), 1);
}

void Arithmetic::move_pointer(Op op, TypeId pointer, unsigned a, unsigned b) {
  scale(b, pointed_bytes(pointer));
  code_.put(op == Op::kAdd ? Operation::kAdd : Operation::kSub, a, a, b);
}

void Arithmetic::distance(TypeId pointer, unsigned a, unsigned b) {
  code_.put(Operation::kSub, a, a, b);
  const std::uint64_t bytes = pointed_bytes(pointer);
  if (bytes == 1) return;
  code_.number(b, bytes);
  code_.put(Operation::kSdiv, a, a, b);
}

void Arithmetic::compare(Op op, bool is_signed, unsigned r, unsigned a, unsigned b) {
  const bool swapped = op == Op::kGt || op == Op::kGe;
  if (swapped) std::swap(a, b);
  switch (op) {
    case Op::kEq: code_.put(Operation::kSeq, r, a, b); return;
    case Op::kNe: code_.put(Operation::kSne, r, a, b); return;
    case Op::kLt:
    case Op::kGt: code_.put(is_signed ? Operation::kSlt : Operation::kSult, r, a, b); return;
    default: code_.put(is_signed ? Operation::kSle : Operation::kSule, r, a, b); return;
  }
}

}  // namespace vmrun::d::lang

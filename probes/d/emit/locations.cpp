// SPDX-License-Identifier: Apache-2.0
#include "probes/d/emit/locations.hpp"

#include <algorithm>

namespace vmrun::d::lang {
namespace {

constexpr std::uint64_t kNullText = 0x0100;  // as the first two bytes in memory

}  // namespace

Location Locations::of(const Node* n) {
  code_.at(n->place);
  if (!n->is_reference(Where::kVariable)) return in_memory(n);
  Location out{.node = n, .self = n->self, .index = n->index};
  if (!n->children.empty()) {
    out.kind = Location::kElement;
    out.keys = keys_.prepare(n->children, n);
  }
  return out;
}

// --- Addresses ---

Location Locations::in_memory(const Node* n) {
  Location out{.kind = Location::kMemory, .node = n};
  address(n, out);
  return out;
}

void Locations::address(const Node* n, Location& out) {
  code_.at(n->place);
  if (n->is_reference(Where::kFrame)) {
    out.base = code_.take();
    code_.put(Operation::kFrame, out.base, 0, 0, n->index);
  } else if (n->is_reference(Where::kVariable) && n->children.empty() && !n->self) {
    out.base = code_.take();
    code_.put(Operation::kAddrg, out.base, 0, 0, n->index);
  } else if (n->is_reference(Where::kVariable)) {
    address_of_copy(n, out);
  } else if (n->kind == Node::Kind::kMember) {
    address(n->children[0], out);
    out.offset += n->offset;
  } else if (n->kind == Node::Kind::kIndex) {
    address_of_element(n, out);
  } else if (n->kind == Node::Kind::kUnary && n->op == Op::kDereference) {
    out.base = evaluator_.value(n->children[0]);
  } else {
    out.base = evaluator_.value(n);
  }
}

void Locations::address_of_copy(const Node* n, Location& out) {
  Location whole = of(n);
  out.keys = whole.keys;
  out.base = out.copy = code_.take();
  out.copied = n;
  load(whole, out.base);
  // When nothing was stored there yet, the bytes are zeros.
  const std::size_t there = code_.put(Operation::kJnz, 0, out.base);
  code_.number(out.base, std::max<std::uint32_t>(types_.bytes(n->type), 1));
  code_.put(Operation::kAlloc, out.base, out.base);
  code_.here(there);
}

void Locations::address_of_element(const Node* n, Location& out) {
  const Node *base = n->children[0], *index = n->children[1];
  if (types_.is_array(base->type)) address(base, out);
  else out.base = evaluator_.value(base);
  const std::int64_t bytes = std::max<std::int64_t>(types_.bytes(n->type), 1);
  if (index->kind == Node::Kind::kInteger) {
    const std::int64_t offset = static_cast<std::int64_t>(index->value);
    std::int64_t at;
    if (!__builtin_mul_overflow(offset, bytes, &at) && !__builtin_add_overflow(at, out.offset, &at) &&
        at <= INT32_MAX && at >= INT32_MIN) {
      out.offset = at;
      return;
    }
  }
  const unsigned r = evaluator_.value(index);
  arithmetic_.scale(r, static_cast<std::uint64_t>(bytes));
  // The sum is put into another register, because the base may have to be stored again.
  code_.put(Operation::kAdd, r, r, out.base);
  out.base = r;
}

// --- Loading ---

void Locations::variable(Operation global, Operation self, const Location& l, unsigned r) {
  code_.put(l.self ? self : global, r, 0, 0, l.index);
}

void Locations::load(const Location& from, unsigned r) {
  const TypeId type = from.node->type;
  if (from.kind == Location::kVariable) {
    variable(Operation::kLdg, Operation::kLdt, from, r);
    if (symbols_.address_taken(from.index) && !from.self) arithmetic_.fit(r, type);
  } else if (from.kind == Location::kElement) {
    keys_.push(from.keys);
    variable(Operation::kLda, Operation::kLdta, from, r);
  } else if (types_.is_by_reference(type)) {
    load_address(from, r);
    if (types_.is_string(type)) null_text(r);
  } else {
    load_word(from, r);
  }
}

/// r has the address of a string in memory. It becomes 0 when the string is NULL.
void Locations::null_text(unsigned r) {
  const unsigned start = code_.take(), null = code_.take();
  code_.put(Operation::kLd, start, r, 2, 0);
  code_.number(null, kNullText);
  code_.put(Operation::kSeq, start, start, null);
  const std::size_t end = code_.put(Operation::kJz, 0, start);
  code_.number(r, 0);
  code_.here(end);
  code_.free_from(start);
}

void Locations::load_address(const Location& l, unsigned r) {
  if (l.offset != 0) {
    const unsigned offset = r == l.base ? code_.take() : r;
    code_.number(offset, static_cast<std::uint64_t>(l.offset));
    code_.put(Operation::kAdd, r, offset, l.base);
  } else if (r != l.base) {
    code_.put(Operation::kMove, r, l.base);
  }
}

void Locations::load_word(const Location& l, unsigned r) {
  const TypeId type = l.node->type;
  const bool bits = l.node->bits != 0;
  const bool is_signed = types_.is_signed(type) && types_.is_integer(type) && !bits;
  code_.put(Operation::kLd, r, l.base, types_.bytes(type) | (is_signed ? 128u : 0u), l.offset);
  if (!bits) return;
  if (l.node->bit_offset != 0) {
    const unsigned shift = code_.take();
    code_.number(shift, l.node->bit_offset);
    code_.put(Operation::kSrl, r, r, shift);
    code_.free_from(shift);
  }
  code_.put(types_.is_signed(type) ? Operation::kSext : Operation::kZext, r, r, l.node->bits);
}

// --- Storing ---

void Locations::store(const Location& to, unsigned r) {
  if (to.kind == Location::kVariable) return variable(Operation::kStg, Operation::kStt, to, r);
  if (to.kind == Location::kElement) {
    keys_.push(to.keys);
    return variable(Operation::kSta, Operation::kStta, to, r);
  }
  const unsigned mark = code_.free();
  const TypeId type = to.node->type;
  if (types_.is_by_reference(type)) store_by_reference(to, r);
  else if (to.node->bits != 0) store_bits(to, r);
  else code_.put(Operation::kSt, r, to.base, types_.bytes(type), to.offset);
  store_copy(to);
  code_.free_from(mark);
}

void Locations::store_by_reference(const Location& l, unsigned r) {
  const TypeId type = l.node->type;
  unsigned to = l.base;
  if (l.offset != 0) {
    to = code_.take();
    code_.number(to, static_cast<std::uint64_t>(l.offset));
    code_.put(Operation::kAdd, to, to, l.base);
  }
  if (types_.is_string(type)) store_text(to, r, types_.bytes(type));
  else code_.put(Operation::kCopy, to, r, 0, types_.bytes(type));
}

/// In memory, NULL is an empty text whose second byte is not 0. A string has at least two bytes.
void Locations::store_text(unsigned address, unsigned r, std::uint32_t bytes) {
  const unsigned mark = code_.take();
  code_.number(mark, kNullText);
  const std::size_t null = code_.put(Operation::kJz, 0, r);
  code_.number(mark, 0);
  code_.here(null);
  code_.put(Operation::kSt, mark, address, 2, 0);
  const std::size_t end = code_.put(Operation::kJz, 0, r);
  code_.put(Operation::kCopys, address, r, 0, bytes);
  code_.here(end);
  code_.free_from(mark);
}

void Locations::store_bits(const Location& l, unsigned r) {
  const std::uint32_t bytes = types_.bytes(l.node->type);
  const std::uint64_t ones = l.node->bits >= 64 ? ~0ull : (1ull << l.node->bits) - 1;
  const unsigned old = code_.take(), mask = code_.take(), added = code_.take();
  code_.put(Operation::kLd, old, l.base, bytes, l.offset);
  code_.number(mask, ~(ones << l.node->bit_offset));
  code_.put(Operation::kAnd, old, old, mask);
  code_.put(Operation::kZext, added, r, l.node->bits);
  code_.number(mask, l.node->bit_offset);
  code_.put(Operation::kSll, added, added, mask);
  code_.put(Operation::kOr, old, old, added);
  code_.put(Operation::kSt, old, l.base, bytes, l.offset);
}

/// A location in a copy of an element is stored by storing the whole copy.
void Locations::store_copy(const Location& l) {
  if (l.copied == nullptr) return;
  Location whole{.node = l.copied, .self = l.copied->self, .index = l.copied->index, .keys = l.keys};
  whole.kind = l.copied->children.empty() ? Location::kVariable : Location::kElement;
  store(whole, l.copy);
}

}  // namespace vmrun::d::lang

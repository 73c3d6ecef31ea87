// SPDX-License-Identifier: Apache-2.0
#include "vm/ir/types.hpp"

#include <algorithm>

#include "vm/term/atom.hpp"

namespace vmrun::ir {

namespace {

/// Joins two sequences of n element types.
const Type* join_elements(const Type* a, const Type* b, std::size_t n, TypePool& pool) {
  if (!a || !b || a == b) return a == b ? a : nullptr;
  std::vector<Type> both;
  for (std::size_t k = 0; k < n; ++k) both.push_back(a[k].join(b[k], pool));
  return pool.keep(both);
}

}  // namespace

Type Type::join(const Type& o, TypePool& pool) const {
  if (kinds == 0) return o;
  if (o.kinds == 0) return *this;
  Type t = of_kinds(kinds | o.kinds);
  // A fact about one type holds for the union if the other type cannot be of that kind.
  auto fact = [&](std::uint16_t k, bool mine, bool theirs) {
    return (mine || !may_be(k)) && (theirs || !o.may_be(k));
  };
  t.boolean = t.may_be(kind::kAtom) && fact(kind::kAtom, boolean, o.boolean);
  if (t.may_be(kind::kInteger)) {
    t.low = !may_be(kind::kInteger) ? o.low : !o.may_be(kind::kInteger) ? low : std::min(low, o.low);
    t.high = !may_be(kind::kInteger) ? o.high : !o.may_be(kind::kInteger) ? high : std::max(high, o.high);
  }
  if (t.may_be(kind::kTuple)) {
    const Type& a = may_be(kind::kTuple) ? *this : o;
    const Type& b = o.may_be(kind::kTuple) ? o : *this;
    t.size = std::min(a.size, b.size);
    t.exact_size = a.exact_size && b.exact_size && a.size == b.size;
    if (a.tag == b.tag) t.tag = a.tag;
    if (t.exact_size) t.elements = join_elements(a.elements, b.elements, t.size, pool);
  }
  if (t.may_be(kind::kCons)) {
    const Type& a = may_be(kind::kCons) ? *this : o;
    const Type& b = o.may_be(kind::kCons) ? o : *this;
    t.item = join_elements(a.item, b.item, 1, pool);
  }
  if (only == o.only) t.only = only;
  return t;
}

Type Type::meet(const Type& o) const {
  Type t = of_kinds(kinds & o.kinds);
  t.boolean = boolean || o.boolean;
  t.low = std::max(low, o.low);
  t.high = std::min(high, o.high);
  if (t.low > t.high) {
    t.kinds &= static_cast<std::uint16_t>(~kind::kInteger);
    t.low = kLowest;
    t.high = kHighest;
  }
  const bool apart = (exact_size && o.size > size) || (o.exact_size && size > o.size) ||
                     (tag.is_value() && o.tag.is_value() && tag != o.tag);
  if (apart) t.kinds &= static_cast<std::uint16_t>(~kind::kTuple);
  t.size = std::max(size, o.size);
  t.exact_size = exact_size || o.exact_size;
  t.tag = tag.is_value() ? tag : o.tag;
  if (t.may_be(kind::kTuple)) t.elements = elements ? elements : o.elements;
  if (t.may_be(kind::kCons)) t.item = item ? item : o.item;
  if (only.is_value() && o.only.is_value() && only != o.only) t.kinds = 0;
  t.only = only.is_value() ? only : o.only;
  return t;
}

Type Type::general() const {
  Type t = *this;
  t.low = kLowest;
  t.high = kHighest;
  t.only = kNonValue;
  return t;
}

Type TypePool::tuple(std::span<const Type> elements) {
  Type t = Type::tuple(static_cast<std::uint32_t>(elements.size()), true);
  if (!elements.empty() && elements[0].only.is_value() && elements[0].only.is_atom())
    t.tag = elements[0].only;
  if (elements.size() <= kWidth) t.elements = keep(elements);
  return t;
}

Type TypePool::list(const Type& item, std::uint16_t kinds) {
  Type t = Type::of_kinds(kinds);
  t.item = keep({&item, 1});
  return t;
}

Type TypePool::of(Term t) {
  if (t.is_immed()) return of(t, 0);
  if (auto known = of_literals_.find(t.raw()); known != of_literals_.end()) return known->second;
  const Type type = of(t, kDepth);
  of_literals_.emplace(t.raw(), type);
  return type;
}

Type TypePool::of(Term t, unsigned depth) {
  if (t.is_small()) {
    Type out = Type::integer(t.small_value(), t.small_value());
    out.only = t;
    return out;
  }
  if (t.is_atom()) {
    Type out = Type::of_kinds(kind::kAtom);
    out.boolean = t == atoms::true_ || t == atoms::false_;
    out.only = t;
    return out;
  }
  if (t.is_nil()) {
    Type out = Type::of_kinds(kind::kNil);
    out.only = t;
    return out;
  }
  if (t.is_list()) {
    Type item = Type::of_kinds(0);
    for (unsigned n = 0; depth && n < kWidth; ++n) {
      item = item.join(of(t.head(), depth - 1), *this);
      t = t.tail();
      if (t.is_nil()) return list(item, kind::kCons);
      if (!t.is_list()) break;
    }
    return Type::of_kinds(kind::kCons);
  }
  if (t.is_tuple()) {
    const auto size = static_cast<std::uint32_t>(t.ptr()->header_arity());
    Type out = Type::tuple(size, true);
    if (depth && size <= kWidth) {
      std::vector<Type> elements;
      for (std::uint32_t k = 0; k < size; ++k) elements.push_back(of(t.ptr()[1 + k], depth - 1));
      out.elements = keep(elements);
    }
    if (size > 0 && t.ptr()[1].is_atom()) out.tag = t.ptr()[1];
    return out;
  }
  if (t.is_float()) return Type::of_kinds(kind::kFloat);
  if (t.is_big()) return Type::of_kinds(kind::kInteger);
  if (t.is_bitstring()) return Type::of_kinds(kind::kBitstring);
  if (t.is_map()) return Type::of_kinds(kind::kMap);
  if (t.is_fun()) return Type::of_kinds(kind::kFun);
  if (t.is_native_record()) return Type::of_kinds(kind::kRecord);
  return {};
}

unsigned TypePool::depth(const Type& t) const {
  unsigned deepest = 0;
  for (const Type* of : {t.elements, t.item})
    if (of) deepest = std::max(deepest, 1 + by_address_.at(of)->depth);
  return deepest;
}

const Type* TypePool::keep(std::span<const Type> elements) {
  if (elements.empty()) return nullptr;
  Kept kept{{}, 0};
  std::size_t hash = elements.size();
  for (const Type& e : elements) {
    Type& t = kept.types.emplace_back(e.general());
    if (depth(t) >= kDepth) t.elements = t.item = nullptr;
    kept.depth = std::max(kept.depth, depth(t));
    hash = hash * 31 + t.kinds + t.size * 7 + reinterpret_cast<std::uintptr_t>(t.elements) +
           reinterpret_cast<std::uintptr_t>(t.item) * 3;
  }
  for (auto [at, end] = by_hash_.equal_range(hash); at != end; ++at)
    if (at->second->types == kept.types) return at->second->types.data();
  const Kept& stored = kept_.emplace_back(std::move(kept));
  by_hash_.emplace(hash, &stored);
  by_address_.emplace(stored.types.data(), &stored);
  return stored.types.data();
}

}  // namespace vmrun::ir

#include "runtime/compile/ssa/types.hpp"

#include <algorithm>

#include "vm/term/atom.hpp"

namespace vmrun::compile::ssa {

Type Type::of(Term t) {
  Type out;
  if (t.is_small()) {
    out = integer(t.small_value(), t.small_value());
    out.only = t;
  } else if (t.is_atom()) {
    out = of_kinds(kind::kAtom);
    out.boolean = t == atoms::true_ || t == atoms::false_;
    out.only = t;
  } else if (t.is_nil()) {
    out = of_kinds(kind::kNil);
    out.only = t;
  } else if (t.is_list()) {
    out = of_kinds(kind::kCons);
  } else if (t.is_tuple()) {
    out = tuple(static_cast<std::uint32_t>(t.ptr()->header_arity()), true);
    if (out.size > 0 && t.ptr()[1].is_atom()) out.tag = t.ptr()[1];
  } else if (t.is_float()) {
    out = of_kinds(kind::kFloat);
  } else if (t.is_big()) {
    out = of_kinds(kind::kInteger);
  } else if (t.is_bitstring()) {
    out = of_kinds(kind::kBitstring);
  } else if (t.is_map()) {
    out = of_kinds(kind::kMap);
  } else if (t.is_fun()) {
    out = of_kinds(kind::kFun);
  }
  return out;
}

Type Type::join(const Type& o) const {
  if (kinds == 0) return o;
  if (o.kinds == 0) return *this;
  Type t = of_kinds(kinds | o.kinds);
  // What one of them says of a kind that the other cannot be stays true.
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
  if (only.is_value() && o.only.is_value() && only != o.only) t.kinds = 0;
  t.only = only.is_value() ? only : o.only;
  return t;
}

}  // namespace vmrun::compile::ssa

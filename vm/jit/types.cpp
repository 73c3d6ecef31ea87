// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "vm/jit/graph.hpp"

namespace vmrun::jit {

Type Type::of(Term t) {
  if (t.is_small()) return small(t.small_value(), t.small_value());
  if (t.is_atom()) return of(std::uint16_t{kAtom});
  if (t.is_nil()) return of(std::uint16_t{kNil});
  if (t.is_list()) return of(std::uint16_t{kCons});
  if (!t.is_boxed()) return of(std::uint16_t{kOtherImmediate});
  if (t.is_tuple()) {
    Type tuple = of(std::uint16_t{kTuple});
    tuple.header = t.boxed_ptr()->raw();
    return tuple;
  }
  return of(static_cast<std::uint16_t>(t.is_float()       ? kFloat
                                       : t.is_big()       ? kBig
                                       : t.is_map()       ? kMap
                                       : t.is_fun()       ? kFun
                                       : t.is_bitstring() ? kBits
                                                          : kOtherBoxed));
}

Type Type::join(const Type& o) const {
  if (kinds == 0) return o;
  if (o.kinds == 0) return *this;
  Type t = of(static_cast<std::uint16_t>(kinds | o.kinds));
  if (!may_be(kSmall)) t.low = o.low, t.high = o.high;
  else if (!o.may_be(kSmall)) t.low = low, t.high = high;
  else t.low = std::min(low, o.low), t.high = std::max(high, o.high);
  if (!may_be(kTuple)) t.header = o.header;
  else if (!o.may_be(kTuple) || header == o.header) t.header = header;
  return t;
}

Type Type::meet(const Type& o) const {
  Type t = of(static_cast<std::uint16_t>(kinds & o.kinds));
  t.low = std::max(low, o.low);
  t.high = std::min(high, o.high);
  if (t.low > t.high) t.kinds &= static_cast<std::uint16_t>(~kSmall), t.low = kLeast, t.high = kMost;
  t.header = has_header() ? header : o.header;
  if (has_header() && o.has_header() && header != o.header) t.kinds &= static_cast<std::uint16_t>(~kTuple);
  return t;
}

}  // namespace vmrun::jit

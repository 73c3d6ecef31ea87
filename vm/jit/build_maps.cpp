// SPDX-License-Identifier: Apache-2.0
#include "vm/jit/builder.hpp"

#include "vm/jit/callees.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/map.hpp"

namespace vmrun::jit {

using op::Family;

namespace {

/// Registers behind those that compiled functions have are a list of arguments.
constexpr Word kListAt = kMostX;
constexpr std::size_t kMostListed = kMaxXRegs - kListAt;

constexpr Word kMapMasked = masked(kHeaderSubMask, sub_header(Term::Sub::kMap));

}  // namespace

ValueId Builder::find_key(ValueId map, ValueId key) {
  if (!g_.is_const(key))
    return emit(Op::kMapGet, Type{}, {map, key}, reinterpret_cast<Word>(&callees::map_get));
  const ValueId hash = number(map_hash(Term::from_raw(g_.imms[key])));
  return emit(Op::kMapGet, Type{}, {map, key, hash}, reinterpret_cast<Word>(&callees::map_get_hashed));
}

void Builder::get_map_element(ValueId map, ValueId key, const Operand& dst, const Word* fail) {
  const ValueId found = find_key(map, key);
  require(Condition::kDiffers, {found}, 0, [&] { go_to(fail); });
  set(dst, found);
}

bool Builder::require_map(ValueId map, const Operand& label) {
  if (!type(map).may_be(Type::kMap)) return fail_to(label), false;
  require_boxed(
      map, Type::kMap, Condition::kHeaderMasked, kMapMasked, [&] { fail_to(label); }, !label.value);
  return true;
}

void Builder::map_get(const Part& p) {
  const auto o = code_.operands(p);
  const ValueId key = get(o[0]), map = get(o[1]);
  if (!require_map(map, o[3])) return;
  const ValueId found = find_key(map, key);
  require(
      Condition::kDiffers, {found}, 0, [&] { fail_to(o[3]); }, !o[3].value);
  set(o[2], found);
}

void Builder::is_map_key(const Part& p) {
  const auto o = code_.operands(p);
  const ValueId key = get(o[0]), map = get(o[1]);
  if (!require_map(map, o[3])) return;
  branch(Condition::kDiffers, {find_key(map, key)}, 0);
  std::vector<Incoming> edges{{block().to, state_}, {block().otherwise, state_}};
  set(o[2], join(edges, {constant(atoms::true_.raw()), constant(atoms::false_.raw())}));
}

void Builder::map_size(const Part& p) {
  const auto o = code_.operands(p);
  const ValueId map = get(o[0]);
  if (!require_map(map, o[2])) return;
  const ValueId size = load(map, kBoxedTag, 1, Type::of(std::uint16_t{0}));
  set(o[1], emit(Op::kTag, Type::small(0, Type::kMost), {size}));
}

void Builder::put_map(const Part& p) {
  const auto o = code_.operands(p);
  const bool exact = o[0].value;
  const ValueId map = get(o[1]);
  if (p.list.size() > kMostListed || !type(map).may_be(Type::kMap)) return leave();
  require_boxed(
      map, Type::kMap, Condition::kHeaderMasked, kMapMasked, [&] { fail_to(o[4]); }, true);
  constexpr Type kAMap{Type::kMap};
  ValueId result;
  if (p.list.size() == 2) {
    const ValueId key = get(source_of(p.list[0])), value = get(source_of(p.list[1]));
    result = invoke(exact ? callees::update_key : callees::put_key, {map, key, value}, kAMap);
  } else {
    for (std::size_t n = 0; n < p.list.size(); ++n)
      act(Op::kStoreX, {get(source_of(p.list[n]))}, kListAt + n);
    const ValueId list = emit(Op::kAddressOfX, Type::of(std::uint16_t{0}), {}, kListAt);
    result = invoke(callees::put_keys, {number(exact), map, list, number(p.list.size() / 2)}, kAMap);
  }
  require(
      Condition::kDiffers, {result}, 0, [&] { leave(); }, true);
  set(o[3], result);
}

void Builder::build_map(const Part& p) {
  const auto o = code_.operands(p);
  switch (p.family) {
    case Family::get_map_element: return get_map_element(get(o[0]), get(o[1]), o[3], o[4].target());
    case Family::get_map_element_slow: return get_map_element(get(o[0]), get(o[1]), o[2], o[3].target());
    case Family::map_get: return map_get(p);
    case Family::is_map_key: return is_map_key(p);
    case Family::map_size: return map_size(p);
    case Family::put_map: return put_map(p);
    default: return build_arithmetic(p);
  }
}

}  // namespace vmrun::jit

// SPDX-License-Identifier: Apache-2.0
#include "vm/jit/builder.hpp"

#include "vm/term/layout.hpp"

namespace vmrun::jit {

using op::Family;

ValueId Builder::load(ValueId from, Word tag, Word words, Type type) {
  return emit(Op::kLoad, type, {from}, words * sizeof(Word) - tag);
}

void Builder::elements(const Part& p, unsigned count) {
  const auto o = code_.operands(p);
  const ValueId tuple = get(o[0]);
  ValueId v[3];
  for (unsigned n = 0; n < count; ++n) v[n] = load(tuple, kBoxedTag, o[1].value + n);
  for (unsigned n = 0; n < count; ++n) set(o[2 + n], v[n]);
}

void Builder::put_tuple(std::span<const ValueId> values, const Operand& dst) {
  const Word header = Term::header(Term::Sub::kTuple, values.size()).raw();
  const ValueId v = g_.value(Op::kPutTuple, tuple_of(header), header);
  append(Op::kPutTuple, v, values, header);
  set(dst, v);
}

void Builder::put_tuple_of(const Part& p, unsigned count) {
  const auto o = code_.operands(p);
  ValueId values[3];
  for (unsigned n = 0; n < count; ++n) values[n] = get(o[n]);
  put_tuple({values, count}, o[count]);
}

void Builder::get_list(const Part& p, bool tests) {
  const auto o = code_.operands(p);
  const ValueId list = get(o[0]);
  if (tests) {
    test_kind(list, Condition::kIsList, Type::kCons, o[3].target());
    if (block_ == kNone) return;
  }
  const ValueId head = load(list, kListTag, 0), tail = load(list, kListTag, 1);
  set(o[1], head);
  set(o[2], tail);
}

void Builder::element(const Part& p) {
  const auto o = code_.operands(p);
  const ValueId tuple = get(o[1]);
  const Word header = Term::header(Term::Sub::kTuple, o[0].value).raw();
  const Type t = type(tuple);
  if (!(t.is(Type::kTuple) && t.has_header() && t.header >= header)) {
    const auto otherwise = [&] { fail_to(o[3]); };
    const bool rare = !o[3].value;
    if (!t.is(Type::kBoxed)) require(Condition::kIsBoxed, {tuple}, 0, otherwise, rare);
    if (!t.is(Type::kTuple))
      require(Condition::kHeaderMasked, {tuple}, masked(kHeaderSubMask, 0), otherwise, rare);
    require(Condition::kHeaderAtLeast, {tuple}, header, otherwise, rare);
    narrow(tuple, Type::of(std::uint16_t{Type::kTuple}));
  }
  set(o[2], load(tuple, kBoxedTag, o[0].value));
}

void Builder::build_term(const Part& p) {
  const auto o = code_.operands(p);
  switch (p.family) {
    case Family::get_list: return get_list(p, false);
    case Family::match_list: return get_list(p, true);
    case Family::get_hd: return set(o[1], load(get(o[0]), kListTag, 0));
    case Family::get_tl: return set(o[1], load(get(o[0]), kListTag, 1));
    case Family::get_tuple_element: return elements(p, 1);
    case Family::get_two_elements: return elements(p, 2);
    case Family::get_three_elements: return elements(p, 3);
    case Family::put_list: {
      const ValueId head = get(o[0]), tail = get(o[1]);
      return set(o[2], emit(Op::kPutList, Type::of(std::uint16_t{Type::kCons}), {head, tail}));
    }
    case Family::put_tuple1: return put_tuple_of(p, 1);
    case Family::put_tuple2: return put_tuple_of(p, 2);
    case Family::put_tuple3: return put_tuple_of(p, 3);
    case Family::put_tuple: {
      std::vector<ValueId> values;
      for (const Word w : p.list) values.push_back(get(source_of(w)));
      return put_tuple(values, o[0]);
    }
    case Family::self: return set(o[0], emit(Op::kSelf, Type::of(std::uint16_t{Type::kOtherImmediate}), {}));
    case Family::make_fun: {
      std::vector<ValueId> values;
      for (const Word w : p.list) values.push_back(get(source_of(w)));
      const ValueId v = g_.value(Op::kPutFun, Type::of(std::uint16_t{Type::kFun}), o[0].value);
      append(Op::kPutFun, v, values, o[0].value);
      return set(o[1], v);
    }
    case Family::element: return element(p);
    case Family::hd:
    case Family::tl: {
      const ValueId list = get(o[0]);
      if (!type(list).is(Type::kCons))
        require(
            Condition::kIsList, {list}, 0, [&] { fail_to(o[2]); }, !o[2].value);
      narrow(list, Type::of(std::uint16_t{Type::kCons}));
      return set(o[1], load(list, kListTag, p.family == Family::tl));
    }
    case Family::tuple_size: {
      const ValueId v = get(o[0]);
      const auto otherwise = [&] { fail_to(o[2]); };
      if (!type(v).is(Type::kBoxed)) require(Condition::kIsBoxed, {v}, 0, otherwise, !o[2].value);
      if (!type(v).is(Type::kTuple))
        require(Condition::kHeaderMasked, {v}, masked(kHeaderSubMask, 0), otherwise, !o[2].value);
      narrow(v, Type::of(std::uint16_t{Type::kTuple}));
      return set(o[1], emit(Op::kTupleSize, Type::small(0, (1 << 24) - 1), {v}));
    }
    default: return build_map(p);
  }
}

}  // namespace vmrun::jit

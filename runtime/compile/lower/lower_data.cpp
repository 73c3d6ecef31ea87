// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/lower/lower_data.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "runtime/compile/lower/lower_expr.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/compare.hpp"
#include "vm/term/layout.hpp"
#include "vm/term/term_upcalls.hpp"

namespace vmrun::compile::lower {

using namespace core;

Term literal_cons(NodeArena& a, Term head, Term tail) {
  Term* cell = static_cast<Term*>(a.alloc(2 * sizeof(Term), alignof(Term)));
  return make_cons(cell, head, tail);
}

Term literal_tuple(NodeArena& a, std::span<const Term> elements) {
  if (elements.empty()) return empty_tuple();
  Term* t = static_cast<Term*>(a.alloc((elements.size() + 1) * sizeof(Term), alignof(Term)));
  t[0] = Term::header(Term::Sub::kTuple, elements.size());
  for (std::size_t i = 0; i < elements.size(); ++i) t[i + 1] = elements[i];
  return Term::boxed(t);
}

Arg LowerData::cons(Expr* e) {
  std::vector<Arg> heads;
  for (; e->kind == Kind::kCons; e = e->as<Cons>().tail) heads.push_back(c_.exprs.value(e->as<Cons>().head));
  Arg tail = c_.exprs.value(e);
  for (std::size_t i = heads.size(); i-- > 0;) {
    if (heads[i].is_literal() && tail.is_literal())
      tail = Arg::lit(literal_cons(arena_, heads[i].literal, tail.literal));
    else tail = blocks_.emit_value(Op::kPutList, {heads[i], tail});
  }
  return tail;
}

Arg LowerData::tuple(Tuple& t) {
  auto es = c_.exprs.values(t.elements);
  std::vector<Term> constant;
  for (Arg a : es) {
    if (!a.is_literal()) return blocks_.emit_value(Op::kPutTuple, std::move(es));
    constant.push_back(a.literal);
  }
  return Arg::lit(literal_tuple(arena_, constant));
}

Term empty_map_literal(NodeArena& a) {
  auto* m = static_cast<FlatMap*>(a.alloc(sizeof(FlatMap), alignof(FlatMap)));
  m->header = MapObject::make_header(MapKind::kFlat, 0, sizeof(FlatMap) / sizeof(Term) - 1);
  m->size = 0;
  m->keys = empty_tuple();
  return Term::boxed(reinterpret_cast<Term*>(m));
}

Arg LowerData::map(Map& m) {
  Arg base = !m.base ? Arg::lit(empty_map_literal(arena_)) : c_.exprs.value(m.base);
  struct Pair {
    Arg key, value;
    bool exact;
  };
  std::vector<Pair> all;
  for (const MapPair& p : m.pairs) {
    const Arg key = c_.exprs.value(p.key);
    all.push_back({key, c_.exprs.value(p.value), p.exact});
  }
  // If several constant keys are missing, the first one in the order of keys is reported.
  for (auto from = all.begin(); from != all.end();) {
    auto updates = [](const Pair& p) { return p.exact && p.key.is_literal(); };
    from = std::find_if(from, all.end(), updates);
    const auto to = std::find_if_not(from, all.end(), updates);
    std::stable_sort(from, to, [](const Pair& a, const Pair& b) {
      return compare_keys(a.key.literal, b.key.literal) < 0;
    });
    from = to;
  }
  if (!base.is_literal() || !base.literal.is_map()) {
    if (base.is_literal()) base = blocks_.emit_value(Op::kMove, {base});
    const BlockId good = blocks_.new_block(),
                  bad = c_.guard_fail == kNone ? blocks_.new_block() : c_.guard_fail;
    blocks_.test(Test::kMap, {base}, good, bad);
    if (c_.guard_fail == kNone) {
      blocks_.start(bad);
      const Arg reason = blocks_.emit_value(Op::kPutTuple, {Arg::lit(atoms::badmap), base});
      blocks_.emit_value(Op::kCallExt, {Arg::lit(atoms::erlang), Arg::lit(atoms::error), reason}, m.loc);
      blocks_.cur().end = BlockEnd::kUnreachable;
    }
    blocks_.start(good);
  }
  // Runs of => and of := become one instruction each. A key that repeats in a run must start a new
  // one, because the last value wins.
  std::size_t i = 0;
  do {
    std::vector<Arg> args{base};
    const bool exact = i < all.size() && all[i].exact;
    for (; i < all.size() && all[i].exact == exact; ++i) {
      const Arg key = all[i].key;
      bool again = false;
      for (std::size_t k = 1; k < args.size() && !again; k += 2)
        again = args[k] == key || !args[k].is_literal() || !key.is_literal() || !key.literal.is_immed();
      if (again && args.size() > 1) break;
      args.push_back(key);
      args.push_back(all[i].value);
    }
    Instr in{.op = exact ? Op::kPutMapExact : Op::kPutMapAssoc};
    in.loc = m.loc;
    in.args = arena_.copy(args);
    ValueId v = fn_.new_value();
    in.dsts = arena_.copy(&v, 1);
    blocks_.fallible(in, c_.guard_fail);
    base = Arg::of(v);
  } while (i < all.size());
  return base;
}

Arg LowerData::record(Record& r) {
  Instr in{.op = Op::kPutRecord};
  in.loc = r.loc;
  std::vector<Arg> args{Arg::lit(r.id), r.base ? c_.exprs.value(r.base) : Arg::lit(Term::nil())};
  for (const RecordPair& p : r.pairs) {
    args.push_back(Arg::lit(p.field));
    args.push_back(c_.exprs.value(p.value));
  }
  in.args = arena_.copy(args);
  ValueId v = fn_.new_value();
  in.dsts = arena_.copy(&v, 1);
  blocks_.fallible(in, kNone);
  return Arg::of(v);
}

namespace {

/// Collects constant bits; big-endian order within bytes.
struct BitBuffer {
  std::vector<std::uint8_t> bytes;
  std::size_t bits = 0;
  void put(std::uint64_t value, unsigned count) {
    for (unsigned i = count; i-- > 0;) {
      if (bits % 8 == 0) bytes.push_back(0);
      if (value >> i & 1) bytes.back() |= static_cast<std::uint8_t>(0x80 >> bits % 8);
      ++bits;
    }
  }
};

bool put_constant(BitBuffer& out, const SegSpec& spec, Term v, Expr* size) {
  auto utf = [&](auto encode) {
    if (!v.is_small()) return false;
    SWord c = v.small_value();
    if (c < 0 || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) return false;
    encode(static_cast<std::uint32_t>(c));
    return true;
  };
  switch (spec.type) {
    case SegType::kUtf8:
      return utf([&](std::uint32_t c) {
        std::string s;
        append_utf8(s, c);
        for (char ch : s) out.put(static_cast<std::uint8_t>(ch), 8);
      });
    case SegType::kInteger: {
      if (!v.is_small() || !size || size->kind != Kind::kLiteral || !size->as<Literal>().value.is_small())
        return false;
      SWord n = size->as<Literal>().value.small_value();
      if (n < 0 || n > 64 || n * spec.unit > 64) return false;
      const auto bits = static_cast<unsigned>(n * spec.unit);
      const bool little = spec.little || spec.native;
      if (little && bits % 8 != 0) return false;
      const auto value = static_cast<std::uint64_t>(v.small_value());
      if (!little) {
        out.put(value, bits);
      } else {
        for (unsigned i = 0; i < bits; i += 8) out.put(value >> i & 0xFF, 8);
      }
      return true;
    }
    default: return false;
  }
}

}  // namespace

bool LowerData::literal_binary(Binary& b, Term& out) {
  BitBuffer buffer;
  for (const Segment& s : b.segments) {
    if (s.value->kind != Kind::kLiteral ||
        !put_constant(buffer, s.spec, s.value->as<Literal>().value, s.size))
      return false;
    if (buffer.bits > (1u << 20)) return false;
  }
  if (buffer.bits % 8 != 0) return false;
  Word words = words_for_bytes(buffer.bytes.size());
  auto* h = static_cast<HeapBinary*>(arena_.alloc((2 + words) * sizeof(Term) + 8, alignof(Term)));
  h->header = Term::header(Term::Sub::kHeapBinary, 1 + words);
  h->size_bytes = buffer.bytes.size();
  std::memcpy(h->data, buffer.bytes.data(), buffer.bytes.size());
  out = Term::boxed(reinterpret_cast<Term*>(h));
  return true;
}

/// A binary cannot be made, because the size of a segment is no number.
Arg LowerData::bad_size(Loc loc) {
  if (c_.guard_fail != kNone) {
    blocks_.jump(c_.guard_fail);
  } else {
    blocks_.emit_value(Op::kCallExt,
                       {Arg::lit(atoms::erlang), Arg::lit(atoms::error), Arg::lit(atoms::badarg)}, loc);
    blocks_.cur().end = BlockEnd::kUnreachable;
  }
  blocks_.start(blocks_.new_block());
  return Arg::lit(Term::nil());
}

Arg LowerData::binary(Binary& b) {
  Term constant;
  if (literal_binary(b, constant)) return Arg::lit(constant);
  Instr in{.op = Op::kBsCreate};
  in.loc = b.loc;
  std::vector<Arg> args;
  std::vector<SegSpec> specs;
  for (const Segment& s : b.segments) {
    args.push_back(c_.exprs.value(s.value));
    const Arg all = Arg::lit(intern_atom("all"));  // the instruction's word for a segment without a size
    args.push_back(s.size ? c_.exprs.value(s.size) : all);
    if (s.size && args.back().is_literal() && args.back().literal == all.literal) return bad_size(b.loc);
    specs.push_back(s.spec);
  }
  in.args = arena_.copy(args);
  in.segments = arena_.copy(specs);
  ValueId v = fn_.new_value();
  in.dsts = arena_.copy(&v, 1);
  blocks_.fallible(in, c_.guard_fail);
  return Arg::of(v);
}

}  // namespace vmrun::compile::lower

// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/lower/lower_bits.hpp"

#include <bit>

#include "runtime/compile/lower/lower_expr.hpp"
#include "runtime/compile/lower/lower_match.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/layout.hpp"

namespace vmrun::compile::lower {

using namespace core;

void BitMatcher::binaries(Rows rows, Occ* at, Exits x) {
  Instr i{.op = Op::kBsStart};
  std::vector<Arg> args{Arg::of(places_.fetch(at))};
  i.args = arena_.copy(args);
  ValueId context = fn_.new_value();
  i.dsts = arena_.copy(&context, 1);
  blocks_.fallible(i, x.not_type);
  Occ* start = places_.child(at, Occ::kBinStart, 0);
  places_.known(start, context);
  Occ* rest = places_.child(start, Occ::kBinRest, 0);
  for (Row& r : rows) {
    if (cell_at(r, at) == nullptr) continue;
    Cell cell = take(r, at);
    r.cells.push_back({rest, cell.pat, 0});
  }
  matcher_.match(std::move(rows), x.fail);
}

bool BitMatcher::same_shape(const PSegment& a, const PSegment& b, const Row& ra, const Row& rb) {
  const SegSpec &p = a.spec, &q = b.spec;
  if (p.type != q.type || p.is_signed != q.is_signed || p.little != q.little || p.native != q.native ||
      p.unit != q.unit)
    return false;
  if (p.type >= SegType::kUtf8) return true;
  if (!a.size || !b.size) return a.size == b.size;
  if (a.size == b.size) return true;
  if (a.size->kind != b.size->kind) return false;
  if (a.size->kind == Kind::kLiteral) return a.size->as<Literal>().value == b.size->as<Literal>().value;
  if (a.size->kind != Kind::kVar) return false;
  auto place = [](const Row& r, Var* v) -> const Occ* {
    for (const Binding& x : r.bindings)
      if (x.var == v) return x.at;
    return nullptr;
  };
  Var *va = a.size->as<VarRef>().var, *vb = b.size->as<VarRef>().var;
  const Occ *oa = place(ra, va), *ob = place(rb, vb);
  return !oa && !ob ? va == vb : oa == ob;
}

Arg BitMatcher::size_of(const PSegment& s, Row& row, BlockId fail) {
  if (s.size->kind == Kind::kLiteral) return Arg::lit(s.size->as<Literal>().value);
  for (const Binding& b : row.bindings) c_.bind(b.var, Arg::of(places_.fetch(b.at)));
  const BlockId outer = c_.guard_fail;
  c_.guard_fail = fail;
  Arg size = c_.exprs.value(s.size);
  c_.guard_fail = outer;
  return size;
}

namespace {

/// If the segment has constant bits, appends them.
bool constant_bits(const PSegment& s, std::vector<std::uint8_t>& bytes, std::size_t& bits) {
  if (s.spec.type != SegType::kInteger || s.value->kind != PatKind::kLiteral) return false;
  const Term v = s.value->as<PLiteral>().value;
  if (!v.is_small() || !s.size || s.size->kind != Kind::kLiteral || !s.size->as<Literal>().value.is_small())
    return false;
  SWord n = s.size->as<Literal>().value.small_value();
  if (n <= 0 || n > 56 || n * s.spec.unit > 56) return false;
  const auto count = static_cast<unsigned>(n * s.spec.unit);
  if ((s.spec.little || s.spec.native) && count != 8) return false;
  const SWord value = v.small_value();
  if (s.spec.is_signed ? value < -(SWord{1} << (count - 1)) || value >= SWord{1} << (count - 1)
                       : value < 0 || value >= SWord{1} << count)
    return false;
  for (unsigned i = count; i-- > 0;) {
    if (bits % 8 == 0) bytes.push_back(0);
    if (static_cast<Word>(value) >> i & 1) bytes.back() |= static_cast<std::uint8_t>(0x80 >> bits % 8);
    ++bits;
  }
  return true;
}

/// A float segment is compared with a float, even if the program has 1.
const Pat* as_float(NodeArena& arena, const Pat* p) {
  if (p->kind != PatKind::kLiteral || !p->as<PLiteral>().value.is_small()) return p;
  auto* words = static_cast<Term*>(arena.alloc(2 * sizeof(Term), alignof(Term)));
  return arena.make<PLiteral>(make_float(words, static_cast<double>(p->as<PLiteral>().value.small_value())));
}

}  // namespace

/// A single clause with constant bits here compares them all at once.
bool BitMatcher::match_string(Rows& rows, Occ* at, BlockId read_fail, BlockId deep_fail) {
  if (rows.size() != 1) return false;
  Cell cell = *cell_at(rows[0], at);
  const auto segs = cell.pat->as<PBinary>().segments;
  std::vector<std::uint8_t> bytes;
  std::size_t bits = 0, k = cell.segment;
  while (k < segs.size() && constant_bits(segs[k], bytes, bits)) ++k;
  if (k == cell.segment) return false;
  Instr i{.op = Op::kBsMatchString};
  std::vector<Arg> args{Arg::of(places_.fetch(at))};
  i.args = arena_.copy(args);
  i.imm = bits;
  i.bytes = arena_.copy(bytes);
  blocks_.fallible(i, read_fail);
  take(rows[0], at);
  rows[0].cells.push_back({places_.child(at->parent, Occ::kBinRest, ++next_rest_), cell.pat, k});
  matcher_.match(std::move(rows), deep_fail);
  return true;
}

/// Handles fields of known size that are followed by the rest as whole bytes. Whether the rest is
/// whole bytes can be tested before anything is read, and a failure then has nothing to undo.
void BitMatcher::check_units_early(Rows& rows, Occ* at, BlockId read_fail) {
  for (const Row& r : rows) {
    if (r.whole_units == at->parent) return;
    const Cell* cell = cell_at(r, at);
    const auto segs = cell->pat->as<PBinary>().segments;
    SWord bits = 0;
    std::size_t k = cell->segment;
    for (; k + 1 < segs.size(); ++k) {
      const PSegment& s = segs[k];
      if (s.spec.type >= SegType::kUtf8 || !s.size || s.size->kind != Kind::kLiteral ||
          !s.size->as<Literal>().value.is_small())
        return;
      const SWord n = s.size->as<Literal>().value.small_value();
      if (n < 0 || n > (SWord{1} << 32)) return;
      bits += n * s.spec.unit;
    }
    if (k == cell->segment || k >= segs.size() || bits % 8 != 0) return;
    const PSegment& last = segs[k];
    if (last.spec.type != SegType::kBinary || last.size || last.spec.unit != 8) return;
  }
  Instr unit{.op = Op::kBsTestUnit};
  std::vector<Arg> args{Arg::of(places_.fetch(at))};
  unit.args = arena_.copy(args);
  unit.imm = 8;
  blocks_.fallible(unit, read_fail);
  for (Row& r : rows) r.whole_units = at->parent;
}

/// Reads one segment for all rows, which have the same shape of it. read_fail: it cannot be read,
/// and the position has not moved; deep_fail: a later failure.
void BitMatcher::segments(Rows rows, Occ* at, BlockId read_fail, BlockId deep_fail) {
  const Cell first = *cell_at(rows[0], at);
  const auto segs = first.pat->as<PBinary>().segments;
  const Arg context = Arg::of(places_.fetch(at));
  if (first.segment == segs.size()) {
    Instr i{.op = Op::kBsTestTail};
    std::vector<Arg> args{context};
    i.args = arena_.copy(args);
    blocks_.fallible(i, read_fail);
    for (Row& r : rows) take(r, at);
    matcher_.match(std::move(rows), deep_fail);
    return;
  }
  if (match_string(rows, at, read_fail, deep_fail)) return;
  const PSegment& seg = segs[first.segment];
  check_units_early(rows, at, read_fail);
  Occ* rest = places_.child(at->parent, Occ::kBinRest, ++next_rest_);
  const bool all = seg.spec.type == SegType::kBinary && !seg.size;
  // The term of the rest is made where it is needed: the context does not move any more.
  Occ* field = places_.child(at, all ? Occ::kBinTail : Occ::kField, 0);
  bool units_known = true;
  for (const Row& r : rows) units_known &= r.whole_units == at->parent;
  Arg size = Arg::lit(intern_atom("all"));
  if (!all && seg.spec.type < SegType::kUtf8) size = size_of(seg, rows[0], read_fail);
  if (size.is_literal() && !all && seg.spec.type < SegType::kUtf8 && !size.literal.is_integer())
    return blocks_.jump(read_fail);
  bool wanted = seg.spec.type == SegType::kFloat;
  for (Row& r : rows) {
    Cell cell = take(r, at);
    const auto theirs = cell.pat->as<PBinary>().segments;
    const Pat* value = theirs[cell.segment].value;
    if (seg.spec.type == SegType::kFloat) value = as_float(arena_, value);
    wanted |= !(value->kind == PatKind::kWild ||
                (value->kind == PatKind::kVar && value->as<PVar>().var->uses == 0));
    // The next cells are the value, then the following segments. No segment can follow "all the
    // rest".
    if (!all) r.cells.push_back({rest, cell.pat, cell.segment + 1});
    add(arena_, r, field, value);
  }
  std::vector<Arg> args{context};
  ValueId v = fn_.new_value();
  if (all) {
    if (seg.spec.unit != 1 && !units_known) {
      Instr unit{.op = Op::kBsTestUnit};
      unit.args = arena_.copy(args);
      unit.imm = seg.spec.unit;
      blocks_.fallible(unit, read_fail);
    }
  } else {
    if (seg.spec.type < SegType::kUtf8) args.push_back(size);
    Instr read{.op = wanted ? Op::kBsGet : Op::kBsSkip};
    read.spec = seg.spec;
    read.args = arena_.copy(args);
    if (wanted) read.dsts = arena_.copy(&v, 1);
    blocks_.fallible(read, read_fail);
    if (wanted) places_.known(field, v);
  }
  matcher_.match(std::move(rows), deep_fail);
}

}  // namespace vmrun::compile::lower

// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/core/to_core_pattern.hpp"

#include "runtime/compile/core/to_core_binary.hpp"
#include "runtime/compile/core/to_core_constant.hpp"
#include "runtime/compile/core/to_core_guard.hpp"
#include "runtime/compile/core/to_core_record.hpp"

namespace vmrun::compile {

namespace {

constexpr std::size_t kMaxSpelledString = 256;  // longer strings in patterns are compared as a whole

}  // namespace

core::Pat* PatternToCore::variable_pattern(std::string_view name, Loc loc, PatternContext& context) {
  if (name == "_") return nodes_.wild();
  Var* known = scope_.lookup(name);
  if (known && context.head) {
    bool here = false;
    here = scope_.bound_after(name, context.start);
    if (!here) known = nullptr;
  }
  if (!known) return nodes_.make<core::PVar>(scope_.bind(name));
  if (context.skip) return nodes_.wild();
  if (scope_.bound_by_sibling(name))
    scope_.bind_to(name, known);  // from here on it belongs to this operand too
  Var* again = nodes_.fresh(name);
  context.tests.push_back(nodes_.erlang({}, "=:=", {nodes_.ref(again), nodes_.ref(known)}));
  return nodes_.make<core::PVar>(again);
}

core::Pat* PatternToCore::string_pattern(const Expr& prefix, core::Pat* tail) {
  if (prefix.is(ExprKind::kString)) {
    std::u32string_view chars = prefix.as<StringExpr>().chars;
    for (std::size_t i = chars.size(); i-- > 0;)
      tail =
          nodes_.make<core::PCons>(nodes_.literal_pattern(Term::small(static_cast<SWord>(chars[i]))), tail);
    return tail;
  }
  Term list = c_.constants.constant(prefix, false);
  std::vector<Term> items;
  for (; list.is_value() && list.is_list(); list = list.tail()) items.push_back(list.head());
  if (!list.is_nil())
    c_.session.diagnostics.error(prefix.loc,
                                 "illegal pattern: '++' takes a string or a list of constants first");
  for (std::size_t i = items.size(); i-- > 0;)
    tail = nodes_.make<core::PCons>(nodes_.literal_pattern(items[i]), tail);
  return tail;
}

core::Expr* PatternToCore::pattern_operand(const Expr& e, const PatternContext& context,
                                           std::span<const std::string_view> own) {
  scope_.hide_since(context.start, own);
  std::vector<CExpr*> checks;
  CExpr* v = c_.guards.guard_value(e, checks);
  scope_.show_all();
  return v;
}

core::Pat* PatternToCore::pattern(const Expr& e, PatternContext& context) {
  switch (e.kind) {
    case ExprKind::kVar: return variable_pattern(e.as<VarExpr>().name, e.loc, context);
    case ExprKind::kString:
      if (e.as<StringExpr>().chars.size() > kMaxSpelledString)
        return nodes_.literal_pattern(c_.constants.constant(e, false));
      return string_pattern(e, nodes_.literal_pattern(Term::nil()));
    case ExprKind::kCons: {
      const auto& c = e.as<ConsExpr>();
      std::vector<core::Pat*> heads;
      for (const Expr* h : c.elements) heads.push_back(pattern(*h, context));
      core::Pat* p = pattern(*c.tail, context);
      for (std::size_t i = heads.size(); i-- > 0;) p = nodes_.make<core::PCons>(heads[i], p);
      return p;
    }
    case ExprKind::kTuple: {
      std::vector<core::Pat*> elements;
      for (const Expr* x : e.as<TupleExpr>().elements) elements.push_back(pattern(*x, context));
      return nodes_.make<core::PTuple>(nodes_.keep(elements));
    }
    case ExprKind::kMap: return map_pattern(e.as<MapExpr>(), context);
    case ExprKind::kBinary: return binary_pattern(e.as<BinaryExpr>(), context, nullptr);
    case ExprKind::kRecord: return record_pattern(e.as<RecordExpr>(), context);
    case ExprKind::kMatch: {
      core::Pat* left = pattern(*e.as<MatchExpr>().left, context);
      return nodes_.make<core::PAlias>(left, pattern(*e.as<MatchExpr>().right, context));
    }
    case ExprKind::kBinaryOp:
      if (e.as<BinaryOpExpr>().op == Tok::kPlusPlus)
        return string_pattern(*e.as<BinaryOpExpr>().left, pattern(*e.as<BinaryOpExpr>().right, context));
      break;
    default: break;
  }
  const Term t = c_.constants.constant(e, false);
  if (t.is_value()) return nodes_.literal_pattern(t);
  c_.session.diagnostics.error(e.loc, "illegal pattern");
  return nodes_.wild();
}

core::Pat* PatternToCore::map_pattern(const MapExpr& e, PatternContext& context) {
  std::vector<core::PMapPair> pairs;
  for (const MapField& f : e.fields) {
    CExpr* key = pattern_operand(*f.key, context, {});
    pairs.push_back({key, pattern(*f.value, context)});
  }
  return nodes_.make<core::PMap>(nodes_.keep(pairs));
}

/// `rest`: a further segment that takes all remaining bits (binary generators).
core::Pat* PatternToCore::binary_pattern(const BinaryExpr& e, PatternContext& context, Var* rest) {
  std::vector<core::PSegment> out;
  std::vector<std::string_view> own;
  for (const Segment& s : e.segments) {
    core::SegSpec spec = c_.binaries.segment_spec(s);
    auto size = [&] { return s.size ? pattern_operand(*s.size, context, own) : c_.binaries.default_size(s); };
    if (context.skip && spec.type == core::SegType::kFloat) spec.type = core::SegType::kInteger;
    if (s.value->is(ExprKind::kString)) {
      for (char32_t c : s.value->as<StringExpr>().chars) {
        core::Pat* value =
            context.skip ? nodes_.wild() : nodes_.literal_pattern(Term::small(static_cast<SWord>(c)));
        out.push_back({spec, value, size()});
      }
      continue;
    }
    CExpr* width = size();  // before the value: it sees earlier segments only
    core::Pat* value;
    if (s.value->is(ExprKind::kVar)) {
      own.push_back(s.value->as<VarExpr>().name);
      value = variable_pattern(own.back(), s.value->loc, context);
    } else if (context.skip) {
      value = nodes_.wild();
    } else {
      Term t = c_.constants.constant(*s.value, false);
      if (!t.is_value()) {
        c_.session.diagnostics.error(s.loc, "illegal pattern: a segment's value is a variable or a constant");
        t = Term::small(0);
      }
      value = nodes_.literal_pattern(t);
    }
    out.push_back({spec, value, width});
  }
  if (rest) {
    core::SegSpec all;
    all.type = core::SegType::kBinary;
    out.push_back({all, nodes_.make<core::PVar>(rest), nullptr});
  }
  return nodes_.make<core::PBinary>(nodes_.keep(out));
}

core::Pat* PatternToCore::record_pattern(const RecordExpr& e, PatternContext& context) {
  if (const RecordMeaning meaning = c_.tables.meaning(e.id); meaning.is_native()) {
    std::vector<core::PRecordPair> pairs;
    for (const RecordFieldInit& f : e.fields)
      pairs.push_back({nodes_.atom(f.name), pattern(*f.value, context)});
    return c_.records.native_pattern(meaning, nodes_.keep(pairs));
  }
  const RecordInfo* r = c_.records.record(e.name);
  std::vector<core::Pat*> elements{nodes_.literal_pattern(nodes_.atom(e.name))};
  for (const RecordFieldDef& field : r->form->fields) {
    const Expr* given = nullptr;
    for (const RecordFieldInit& f : e.fields) {
      if (f.name == field.name) {
        given = f.value;
        break;
      }
      if (f.name == "_") given = f.value;
    }
    elements.push_back(given ? pattern(*given, context) : nodes_.wild());
  }
  return nodes_.make<core::PTuple>(nodes_.keep(elements));
}

}  // namespace vmrun::compile

// Lowering of patterns.

#include "runtime/compile/core/to_core_state.hpp"

namespace vmrun::compile {

namespace {

constexpr size_t kMaxSpelledString = 256;  // longer strings in patterns are compared as a whole

}  // namespace

core::Pat* Lowering::variable_pattern(std::string_view name, Loc loc, PatternContext& context) {
  if (name == "_") return wild();
  Var* known = lookup(name);
  if (known != nullptr && context.head) {
    bool here = false;
    for (size_t i = context.start; i < trail_.size() && !here; i++) here = trail_[i].name == name;
    if (!here) known = nullptr;
  }
  if (known == nullptr) return make<core::PVar>(bind(name));
  if (context.skip) return wild();
  if (bound_by_sibling(name)) bind_to(name, known);  // from here on it is this operand's own too
  Var* again = fresh(name);
  context.tests.push_back(erlang({}, "=:=", {ref(again), ref(known)}));
  return make<core::PVar>(again);
}

core::Pat* Lowering::string_pattern(const Expr& prefix, core::Pat* tail) {
  if (prefix.is(ExprKind::kString)) {
    std::u32string_view chars = prefix.as<StringExpr>().chars;
    for (size_t i = chars.size(); i-- > 0;)
      tail = make<core::PCons>(literal_pattern(Term::small(static_cast<SWord>(chars[i]))), tail);
    return tail;
  }
  Term list = constant(prefix, false);
  std::vector<Term> items;
  for (; list.is_value() && list.is_list(); list = list.tail()) items.push_back(list.head());
  if (!list.is_nil())
    session_.diagnostics.error(prefix.loc,
                               "illegal pattern: '++' takes a string or a list of constants first");
  for (size_t i = items.size(); i-- > 0;) tail = make<core::PCons>(literal_pattern(items[i]), tail);
  return tail;
}

core::Expr* Lowering::pattern_operand(const Expr& e, const PatternContext& context,
                                      std::span<const std::string_view> own) {
  hidden_ = {context.start, trail_.size(), own};
  std::vector<CExpr*> checks;
  CExpr* v = guard_value(e, checks);
  hidden_ = {};
  return v;
}

core::Pat* Lowering::pattern(const Expr& e, PatternContext& context) {
  switch (e.kind) {
    case ExprKind::kVar: return variable_pattern(e.as<VarExpr>().name, e.loc, context);
    case ExprKind::kString:
      if (e.as<StringExpr>().chars.size() > kMaxSpelledString) return literal_pattern(constant(e, false));
      return string_pattern(e, literal_pattern(Term::nil()));
    case ExprKind::kCons: {
      const auto& c = e.as<ConsExpr>();
      std::vector<core::Pat*> heads;
      for (const Expr* h : c.elements) heads.push_back(pattern(*h, context));
      core::Pat* p = pattern(*c.tail, context);
      for (size_t i = heads.size(); i-- > 0;) p = make<core::PCons>(heads[i], p);
      return p;
    }
    case ExprKind::kTuple: {
      std::vector<core::Pat*> elements;
      for (const Expr* x : e.as<TupleExpr>().elements) elements.push_back(pattern(*x, context));
      return make<core::PTuple>(keep(elements));
    }
    case ExprKind::kMap: return map_pattern(e.as<MapExpr>(), context);
    case ExprKind::kBinary: return binary_pattern(e.as<BinaryExpr>(), context, nullptr);
    case ExprKind::kRecord: return record_pattern(e.as<RecordExpr>(), context);
    case ExprKind::kMatch: {
      core::Pat* left = pattern(*e.as<MatchExpr>().left, context);
      return make<core::PAlias>(left, pattern(*e.as<MatchExpr>().right, context));
    }
    case ExprKind::kBinaryOp:
      if (e.as<BinaryOpExpr>().op == Tok::kPlusPlus)
        return string_pattern(*e.as<BinaryOpExpr>().left, pattern(*e.as<BinaryOpExpr>().right, context));
      break;
    default: break;
  }
  Term t = constant(e, false);
  if (t.is_value()) return literal_pattern(t);
  session_.diagnostics.error(e.loc, "illegal pattern");
  return wild();
}

core::Pat* Lowering::map_pattern(const MapExpr& e, PatternContext& context) {
  std::vector<core::PMapPair> pairs;
  for (const MapField& f : e.fields) {
    CExpr* key = pattern_operand(*f.key, context, {});
    pairs.push_back({key, pattern(*f.value, context)});
  }
  return make<core::PMap>(keep(pairs));
}

/// `rest`: a further segment takes all that is left (binary generators).
core::Pat* Lowering::binary_pattern(const BinaryExpr& e, PatternContext& context, Var* rest) {
  std::vector<core::PSegment> out;
  std::vector<std::string_view> own;
  for (const Segment& s : e.segments) {
    core::SegSpec spec = segment_spec(s);
    auto size = [&] { return s.size != nullptr ? pattern_operand(*s.size, context, own) : default_size(s); };
    if (context.skip && spec.type == core::SegType::kFloat) spec.type = core::SegType::kInteger;
    if (s.value->is(ExprKind::kString)) {
      for (char32_t c : s.value->as<StringExpr>().chars) {
        core::Pat* value = context.skip ? wild() : literal_pattern(Term::small(static_cast<SWord>(c)));
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
      value = wild();
    } else {
      Term t = constant(*s.value, false);
      if (!t.is_value()) {
        session_.diagnostics.error(s.loc, "illegal pattern: a segment's value is a variable or a constant");
        t = Term::small(0);
      }
      value = literal_pattern(t);
    }
    out.push_back({spec, value, width});
  }
  if (rest != nullptr) {
    core::SegSpec all;
    all.type = core::SegType::kBinary;
    out.push_back({all, make<core::PVar>(rest), nullptr});
  }
  return make<core::PBinary>(keep(out));
}

core::Pat* Lowering::record_pattern(const RecordExpr& e, PatternContext& context) {
  const RecordInfo* r = record(e.name);
  std::vector<core::Pat*> elements{literal_pattern(atom(e.name))};
  for (const RecordFieldDef& field : r->form->fields) {
    const Expr* given = nullptr;
    for (const RecordFieldInit& f : e.fields) {
      if (f.name == field.name) {
        given = f.value;
        break;
      }
      if (f.name == "_") given = f.value;
    }
    elements.push_back(given != nullptr ? pattern(*given, context) : wild());
  }
  return make<core::PTuple>(keep(elements));
}

}  // namespace vmrun::compile

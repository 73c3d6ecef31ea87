// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/check/lint_pattern.hpp"

namespace vmrun::compile {

void PatternLinter::pattern_variable(const VarExpr& v, const PatternPlace& context) {
  if (v.anonymous()) return;
  Variables::Variable* known = vars_.find(v.name);
  if (known && !context.shadows.empty() && !vars_.bound_here(v.name, context.start)) {
    if (context.shadows != "head" && known->state == Variables::State::kBound &&
        c_.enabled("nowarn_shadow_vars"))
      c_.warning(v.loc,
                 format_message("variable '%.*s' shadowed in %.*s", VIEW(v.name), VIEW(context.shadows)));
    known = nullptr;
  }
  if (!known) return vars_.bind(v.name, v.loc);
  vars_.matched_again(v, *known, vars_.bound_here(v.name, context.start));
  vars_.use(v);
}

void PatternLinter::patterns(ExprList list, const PatternPlace& context) {
  for (const Expr* p : list) pattern(*p, context);
}

/// Whether it is a number or string, which operators may combine in a pattern.
bool PatternLinter::is_constant(const Expr& e) const {
  switch (e.kind) {
    case ExprKind::kInteger:
    case ExprKind::kFloat: return true;
    case ExprKind::kUnary:
      return e.as<UnaryExpr>().op != Tok::kNot && is_constant(*e.as<UnaryExpr>().operand);
    case ExprKind::kBinaryOp: {
      const auto& b = e.as<BinaryOpExpr>();
      switch (b.op) {
        case Tok::kPlus:
        case Tok::kMinus:
        case Tok::kStar:
        case Tok::kSlash:
        case Tok::kDiv:
        case Tok::kRem:
        case Tok::kBand:
        case Tok::kBor:
        case Tok::kBxor:
        case Tok::kBsl:
        case Tok::kBsr: return is_constant(*b.left) && is_constant(*b.right);
        default: return false;
      }
    }
    default: return false;
  }
}

void PatternLinter::pattern_operand(const Expr& e, const PatternPlace& context,
                                    std::span<const std::string_view> own) {
  vars_.hide_since(context.start, own);
  guards_.guard(e);
  vars_.show_all();
}

void PatternLinter::pattern(const Expr& e, const PatternPlace& context) {
  auto illegal = [&] {
    c_.error(e.loc, e.is(ExprKind::kRecordField)
                        ? "illegal pattern: a record with another value is Record#name{field = Value}"
                        : "illegal pattern");
    vars_.excuse(e);
  };
  switch (e.kind) {
    case ExprKind::kVar: pattern_variable(e.as<VarExpr>(), context); return;
    case ExprKind::kAtom:
    case ExprKind::kInteger:
    case ExprKind::kFloat:
    case ExprKind::kString:
    case ExprKind::kNil: return;
    case ExprKind::kCons:
      patterns(e.as<ConsExpr>().elements, context);
      pattern(*e.as<ConsExpr>().tail, context);
      return;
    case ExprKind::kTuple: patterns(e.as<TupleExpr>().elements, context); return;
    case ExprKind::kMap: {
      const auto& m = e.as<MapExpr>();
      if (m.base) return illegal();
      for (const MapField& f : m.fields) {
        if (!f.exact) {
          c_.error(f.loc, "illegal pattern: a map pattern takes ':=', not '=>'");
          vars_.excuse(*f.key);
          vars_.excuse(*f.value);
          continue;
        }
        // A key is an expression over variables bound before the pattern.
        pattern_operand(*f.key, context, {});
        pattern(*f.value, context);
      }
      return;
    }
    case ExprKind::kBinary: pattern_binary(e.as<BinaryExpr>(), context); return;
    case ExprKind::kRecord: {
      const auto& r = e.as<RecordExpr>();
      if (r.base) return illegal();
      c_.record_expr(r, false);
      for (const RecordFieldInit& f : r.fields) pattern(*f.value, context);
      return;
    }
    case ExprKind::kRecordIndex: c_.record_index(e.as<RecordIndexExpr>()); return;
    case ExprKind::kMatch:
      pattern(*e.as<MatchExpr>().left, context);
      pattern(*e.as<MatchExpr>().right, context);
      return;
    case ExprKind::kUnary:
      if (!is_constant(e)) illegal();
      return;
    case ExprKind::kBinaryOp: {
      const auto& b = e.as<BinaryOpExpr>();
      if (b.op != Tok::kPlusPlus) {
        if (!is_constant(e)) illegal();
        return;
      }
      const Expr* prefix = b.left;
      bool good = prefix->is(ExprKind::kString) || prefix->is(ExprKind::kNil);
      if (prefix->is(ExprKind::kCons)) {
        good = prefix->as<ConsExpr>().tail->is(ExprKind::kNil);
        for (const Expr* x : prefix->as<ConsExpr>().elements) good = good && is_constant(*x);
      }
      if (!good) return illegal();
      pattern(*b.right, context);
      return;
    }
    default: illegal(); return;
  }
}

void PatternLinter::pattern_binary(const BinaryExpr& e, const PatternPlace& context) {
  std::vector<std::string_view> own;
  for (std::size_t i = 0; i < e.segments.size(); ++i) {
    const Segment& s = e.segments[i];
    guards_.segment(s, true, i + 1 == e.segments.size());
    if (s.size) pattern_operand(*s.size, context, own);
    switch (s.value->kind) {
      case ExprKind::kVar:
        pattern_variable(s.value->as<VarExpr>(), context);
        own.push_back(s.value->as<VarExpr>().name);
        break;
      case ExprKind::kString:
      case ExprKind::kAtom: break;  // matches nothing
      default:
        if (is_constant(*s.value)) break;
        c_.error(s.value->loc, "illegal pattern");
        vars_.excuse(*s.value);
    }
  }
}

/// A field without a size would take all the rest and leave nothing for the next element.
void PatternLinter::sized_fields(const BinaryExpr& e) {
  for (const Segment& s : e.segments)
    if ((s.type == SegmentType::kBinary || s.type == SegmentType::kBits) && !s.size)
      c_.error(s.loc, "binary fields without size are not allowed in patterns of bit string generators");
}

}  // namespace vmrun::compile

// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/core/to_core_constant.hpp"

#include "runtime/compile/core/to_core_binary.hpp"
#include "runtime/compile/core/to_core_record.hpp"
#include "vm/term/arith.hpp"
#include "vm/term/map.hpp"

namespace vmrun::compile {

Term ConstantToCore::constant(const Expr& e, bool attribute) {
  switch (e.kind) {
    case ExprKind::kAtom: return nodes_.atom(e.as<AtomExpr>().name);
    case ExprKind::kInteger: return nodes_.integer_term(e.as<IntegerExpr>());
    case ExprKind::kFloat: {
      Term* hp = nodes_.heap().alloc(2);
      return make_float(hp, e.as<FloatExpr>().value);
    }
    case ExprKind::kString: return nodes_.string_term(e.as<StringExpr>().chars, Term::nil());
    case ExprKind::kNil: return Term::nil();
    case ExprKind::kCons: {
      const auto& c = e.as<ConsExpr>();
      Term tail = constant(*c.tail, attribute);
      for (std::size_t i = c.elements.size(); i-- > 0 && tail.is_value();) {
        Term head = constant(*c.elements[i], attribute);
        if (!head.is_value()) return head;
        Term* hp = nodes_.heap().alloc(2);
        tail = make_cons(hp, head, tail);
      }
      return tail;
    }
    case ExprKind::kTuple: {
      std::vector<CExpr*> items;
      for (const Expr* item : e.as<TupleExpr>().elements) {
        Term t = constant(*item, attribute);
        if (!t.is_value()) return t;
        items.push_back(nodes_.literal({}, t));
      }
      return literal_of(nodes_.tuple({}, items));
    }
    case ExprKind::kMap: {
      const auto& m = e.as<MapExpr>();
      if (m.base) return kNonValue;
      Term map = empty_map(nodes_.heap());
      for (const MapField& f : m.fields) {
        const Term k = constant(*f.key, attribute), v = constant(*f.value, attribute);
        if (!k.is_value() || !v.is_value()) return kNonValue;
        map = map_put(nodes_.heap(), map, k, v);
      }
      return map;
    }
    case ExprKind::kUnary: {
      const auto& u = e.as<UnaryExpr>();
      Term t = constant(*u.operand, attribute);
      if (!t.is_value()) return t;
      CExpr* folded = nodes_.fold_operator(e.loc, token_spelling(u.op), {nodes_.literal({}, t)});
      return folded ? literal_of(folded) : kNonValue;
    }
    case ExprKind::kBinaryOp: {
      const auto& b = e.as<BinaryOpExpr>();
      const Term x = constant(*b.left, attribute), y = constant(*b.right, attribute);
      if (!x.is_value() || !y.is_value()) return kNonValue;
      if (attribute && b.op == Tok::kSlash && x.is_atom())
        return literal_of(nodes_.tuple({}, {nodes_.literal({}, x), nodes_.literal({}, y)}));
      CExpr* folded =
          nodes_.fold_operator(e.loc, token_spelling(b.op), {nodes_.literal({}, x), nodes_.literal({}, y)});
      return folded ? literal_of(folded) : kNonValue;
    }
    case ExprKind::kBinary: {
      std::vector<core::Segment> segments;
      Block block;
      for (const Segment& s : e.as<BinaryExpr>().segments) {
        const bool plain = s.value->is(ExprKind::kInteger) || s.value->is(ExprKind::kString) ||
                           s.value->is(ExprKind::kFloat);
        if (!plain || (s.size && !s.size->is(ExprKind::kInteger))) return kNonValue;
      }
      c_.binaries.append_segments(e.as<BinaryExpr>(), block, segments);
      CExpr* folded = c_.binaries.fold_binary(e.loc, segments);
      return folded ? literal_of(folded) : kNonValue;
    }
    case ExprKind::kRecordIndex: {
      const auto& r = e.as<RecordIndexExpr>();
      return Term::small(c_.records.record(r.name)->field_index(r.field) + 2);
    }
    default: return kNonValue;
  }
}

}  // namespace vmrun::compile

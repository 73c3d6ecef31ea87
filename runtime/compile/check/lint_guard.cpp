// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/check/lint_guard.hpp"

#include "vm/base/near_name.hpp"

namespace vmrun::compile {

void GuardLinter::guards(std::span<const ExprList> alternatives) {
  for (const ExprList& tests : alternatives)
    for (const Expr* t : tests)
      if (!obsolete_test(*t)) guard(*t);
}

/// Handles list(X) as a whole test: the old form of is_list(X).
bool GuardLinter::obsolete_test(const Expr& e) {
  if (!e.is(ExprKind::kCall) || !e.as<CallExpr>().target->is(ExprKind::kAtom)) return false;
  const auto& c = e.as<CallExpr>();
  const FunctionName name{c.target->as<AtomExpr>().name, static_cast<std::uint32_t>(c.args.size())};
  const std::string_view modern = modern_type_test(name.name, name.arity);
  if (modern.empty() || c_.tables.functions.count(name) != 0) return false;
  if (c_.enabled("nowarn_obsolete_guard"))
    c_.warning(e.loc, format_message("%.*s/%u obsolete (use %.*s/%u)", VIEW(name.name), name.arity,
                                     VIEW(modern), name.arity));
  const AtomExpr target(c.target->loc, modern);
  guard_call(CallExpr(e.loc, &target, c.args));
  return true;
}

void GuardLinter::guard(const Expr& e) {
  auto all = [&](ExprList items) {
    for (const Expr* i : items) guard(*i);
  };
  switch (e.kind) {
    case ExprKind::kVar: vars_.use(e.as<VarExpr>()); return;
    case ExprKind::kAtom:
    case ExprKind::kInteger:
    case ExprKind::kFloat:
    case ExprKind::kString:
    case ExprKind::kNil: return;
    case ExprKind::kCons:
      all(e.as<ConsExpr>().elements);
      guard(*e.as<ConsExpr>().tail);
      return;
    case ExprKind::kTuple: all(e.as<TupleExpr>().elements); return;
    case ExprKind::kMap:
      if (e.as<MapExpr>().base != nullptr) guard(*e.as<MapExpr>().base);
      for (const MapField& f : e.as<MapExpr>().fields) {
        guard(*f.key);
        guard(*f.value);
        if (f.exact && e.as<MapExpr>().base == nullptr)
          c_.error(f.loc, "only association operators '=>' are allowed in map construction");
      }
      return;
    case ExprKind::kBinary:
      for (const Segment& s : e.as<BinaryExpr>().segments) {
        segment(s, false, true);
        guard(*s.value);
        if (s.size) guard(*s.size);
      }
      return;
    case ExprKind::kRecord: {
      const auto& r = e.as<RecordExpr>();
      if (r.base) break;
      if (c_.tables.meaning(r.id).is_native())
        return illegal(e, "creating a record in a guard is only supported for tuple records");
      c_.record_expr(r, true);
      for (const RecordFieldInit& f : r.fields) guard(*f.value);
      return;
    }
    case ExprKind::kRecordField: {
      const auto& r = e.as<RecordFieldExpr>();
      c_.record_field_expr(r);
      guard(*r.base);
      return;
    }
    case ExprKind::kRecordIndex: c_.record_index(e.as<RecordIndexExpr>()); return;
    case ExprKind::kUnary: guard(*e.as<UnaryExpr>().operand); return;
    case ExprKind::kBinaryOp: {
      const auto& b = e.as<BinaryOpExpr>();
      if (b.op == Tok::kBang || b.op == Tok::kPlusPlus || b.op == Tok::kMinusMinus) break;
      guard(*b.left);
      guard(*b.right);
      return;
    }
    case ExprKind::kCall: guard_call(e.as<CallExpr>()); return;
    default: break;
  }
  if (e.is(ExprKind::kMatch))
    illegal(e, "illegal guard expression: '=' matches; did you mean '=:=' or '=='?");
  else illegal(e);
}

void GuardLinter::illegal(const Expr& e, std::string message) {
  c_.error(e.loc, std::move(message));
  vars_.excuse(e);
}

/// Returns a built-in test with a similar name.
static std::string meant_guard(const FunctionName& wrong) {
  NearName near(wrong.name, NearName::Names::kMany);
  for (const Builtin& b : all_builtins())
    if (b.guard && b.auto_imported && b.arity == wrong.arity) near.offer(b.name);
  return near.found().empty() ? std::string()
                              : did_you_mean(format_message("%.*s/%u", VIEW(near.found()), wrong.arity));
}

void GuardLinter::guard_call(const CallExpr& e) {
  FunctionName name{{}, static_cast<std::uint32_t>(e.args.size())};
  if (e.target->is(ExprKind::kAtom)) {
    name.name = e.target->as<AtomExpr>().name;
    const auto import = c_.tables.imports.find(name);
    const bool from_erlang = import != c_.tables.imports.end() && import->second.module == "erlang";
    const bool own =
        c_.tables.functions.count(name) != 0 || (import != c_.tables.imports.end() && !from_erlang);
    const Builtin* b = find_builtin(name.name, name.arity);
    if (from_erlang) import->second.used = true;
    if (own || !b || !b->guard || (!from_erlang && !c_.tables.auto_imports(name))) {
      const bool local = own || !b || !b->auto_imported;
      if (!local) return illegal(e);
      const std::string meant = own ? std::string() : meant_guard(name);
      return illegal(e, format_message("call to local/imported function %s/%u is illegal in guard%s",
                                       quote_atom(name.name).c_str(), name.arity, meant.c_str()));
    }
  } else if (e.target->is(ExprKind::kRemote)) {
    const auto& r = e.target->as<RemoteExpr>();
    const bool erlang = r.module->is(ExprKind::kAtom) && r.module->as<AtomExpr>().name == "erlang";
    if (!erlang || !r.function->is(ExprKind::kAtom)) return illegal(e);
    name.name = r.function->as<AtomExpr>().name;
    const Builtin* b = find_builtin(name.name, name.arity);
    if ((!b || !b->guard) && !is_guard_operator(name.name, name.arity)) return illegal(e);
  } else {
    return illegal(e);
  }
  if (name.name == "is_record" && e.args.size() > 1) {
    if (!e.args[1]->is(ExprKind::kAtom)) return illegal(e);
    const bool sized = e.args.size() == 3;
    if (sized && !e.args[2]->is(ExprKind::kInteger) && !e.args[2]->is(ExprKind::kAtom)) return illegal(e);
    if (!sized) c_.record_test(e.args[1]->as<AtomExpr>().name, e.args[1]->loc);
  }
  for (const Expr* a : e.args) guard(*a);
}

static bool never_a_size(const Expr& e) {
  switch (e.kind) {
    case ExprKind::kAtom:
    case ExprKind::kBinary:
    case ExprKind::kCons:
    case ExprKind::kFloat:
    case ExprKind::kNil:
    case ExprKind::kTuple: return true;
    case ExprKind::kMap: return e.as<MapExpr>().base == nullptr;
    default: return false;
  }
}

static bool is_plain(const Segment& s) {
  return !s.size && s.type == SegmentType::kDefault && s.sign < 0 && s.endian < 0 && s.unit == 0;
}

/// Checks that type, size and unit fit together.
void GuardLinter::segment(const Segment& s, bool in_pattern, bool last) {
  SegmentType type = s.type;
  const bool utf = type == SegmentType::kUtf8 || type == SegmentType::kUtf16 || type == SegmentType::kUtf32;
  const bool bits = type == SegmentType::kBinary || type == SegmentType::kBits;
  if (in_pattern && !utf && s.value->is(ExprKind::kString) && !is_plain(s)) {
    c_.error(s.value->loc, "a literal string in a binary pattern must not have a type or a size");
    return;
  }
  if (utf && (s.size || s.unit != 0)) {
    c_.error(s.loc, "neither size nor unit must be given for segments of type utf8/utf16/utf32");
    return;
  }
  if (!bits && s.unit != 0 && !s.size) {
    c_.error(s.loc, "a bit unit size must not be specified unless a size is specified too");
    return;
  }
  if (s.size && s.size->is(ExprKind::kInteger) && type == SegmentType::kFloat && !s.is_text() &&
      !s.size->as<IntegerExpr>().big()) {
    const std::int64_t width = s.size->as<IntegerExpr>().value * (s.unit != 0 ? s.unit : 1);
    if (width != 16 && width != 32 && width != 64) c_.warning(s.loc, "bad float bit size");
  }
  if (s.size && in_pattern && never_a_size(*s.size))
    c_.warning(
        s.size->loc,
        "a size expression in a pattern evaluates to a non-integer value; this pattern cannot possibly "
        "match");
  const bool all = s.size && s.size->is(ExprKind::kAtom) && s.size->as<AtomExpr>().name == "all";
  if (all && !in_pattern && !bits) c_.error(s.loc, "illegal bit size");
  if (in_pattern && bits && !s.size && !last)
    c_.error(s.loc, "a binary field without size is only allowed at the end of a binary pattern");
}

}  // namespace vmrun::compile

// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/check/ms_transform.hpp"

#include <algorithm>
#include <string>

namespace vmrun::compile {

namespace {

struct Action {
  std::string_view name;
  std::uint32_t arity;
};

/// Functions that only a specification for tracing may call, and only in its body.
constexpr Action kTraceActions[] = {
    {"caller", 0},
    {"caller_line", 0},
    {"current_stacktrace", 0},
    {"current_stacktrace", 1},
    {"disable_trace", 1},
    {"disable_trace", 2},
    {"display", 1},
    {"enable_trace", 1},
    {"enable_trace", 2},
    {"exception_trace", 0},
    {"get_seq_token", 0},
    {"get_tcw", 0},
    {"message", 1},
    {"process_dump", 0},
    {"return_trace", 0},
    {"set_seq_token", 2},
    {"set_tcw", 1},
    {"silent", 1},
    {"trace", 2},
    {"trace", 3},
};

bool is_remote(const Expr& target, std::string_view module, std::string_view function) {
  if (!target.is(ExprKind::kRemote)) return false;
  const auto& r = target.as<RemoteExpr>();
  return r.module->is(ExprKind::kAtom) && r.module->as<AtomExpr>().name == module &&
         r.function->is(ExprKind::kAtom) && r.function->as<AtomExpr>().name == function;
}

/// Whether an atom has a special meaning in a specification: '$_', '$$', '$*', '$1', ….
bool is_special(std::string_view name) {
  if (!name.starts_with("$") || name.size() < 2) return false;
  return name == "$_" || name == "$$" || name == "$*" ||
         std::all_of(name.begin() + 1, name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

class MatchSpec {
 public:
  MatchSpec(Session& session, ModuleTables& tables, bool for_trace)
      : session_(session), t_(tables), for_trace_(for_trace) {}

  /// Makes one tuple for each alternative of the guards.
  void clause(const Clause& c, std::vector<const Expr*>& out) {
    if (c.patterns.size() != 1) return bad_parameter(c.loc);
    variables_.clear();
    whole_ = {};
    const Expr* head = top_pattern(*c.patterns[0]);
    if (!head) return bad_parameter(c.patterns[0]->loc);
    std::vector<const Expr*> body;
    in_guard_ = false;
    for (const Expr* e : c.body) body.push_back(value(*e));
    in_guard_ = true;
    auto alternative = [&](ExprList tests) {
      std::vector<const Expr*> guards;
      for (const Expr* g : tests) guards.push_back(value(*g));
      out.push_back(tuple(c.loc, {head, list(c.loc, guards), list(c.loc, body)}));
    };
    if (c.guards.empty()) alternative({});
    for (ExprList tests : c.guards) alternative(tests);
  }

  const Expr* list(Loc loc, const std::vector<const Expr*>& items) {
    const Expr* nil = make<NilExpr>(loc);
    return items.empty() ? nil : make<ConsExpr>(loc, keep(items), nil);
  }

 private:
  template <class T, class... Args>
  const Expr* make(Args&&... args) {
    return session_.arena.make<T>(std::forward<Args>(args)...);
  }
  ExprList keep(const std::vector<const Expr*>& items) { return session_.arena.copy(items); }
  const Expr* tuple(Loc loc, const std::vector<const Expr*>& items) {
    return make<TupleExpr>(loc, keep(items));
  }
  const Expr* atom(Loc loc, std::string_view name) {
    return make<AtomExpr>(loc, session_.names.intern(name));
  }
  const Expr* integer(Loc loc, std::int64_t n) {
    IntegerExpr* e = session_.arena.make<IntegerExpr>(loc);
    e->value = n;
    return e;
  }
  /// {Name, Args…}, a call within a specification.
  const Expr* apply(Loc loc, std::string_view name, std::vector<const Expr*> args) {
    args.insert(args.begin(), atom(loc, name));
    return tuple(loc, args);
  }
  /// A tuple that is a value has double braces.
  const Expr* made_tuple(Loc loc, const std::vector<const Expr*>& items) {
    return tuple(loc, {tuple(loc, items)});
  }
  const Expr* constant(Loc loc, const Expr* e) { return tuple(loc, {atom(loc, "const"), e}); }
  void error(Loc loc, std::string message) { session_.diagnostics.error(loc, std::move(message)); }
  const char* caller() const { return for_trace_ ? "dbg:fun2ms" : "ets:fun2ms"; }
  void bad_parameter(Loc loc) {
    error(loc, format_message("%s requires fun with single variable or %s parameter", caller(),
                              for_trace_ ? "list" : "tuple"));
  }
  const Expr* illegal(const Expr& e) {
    error(e.loc, format_message("%s: illegal expression in the %s of a match specification", caller(),
                                in_guard_ ? "guard" : "body"));
    return make<NilExpr>(e.loc);
  }

  const RecordInfo* record(std::string_view name, Loc loc) {
    auto it = t_.records.find(name);
    if (it == t_.records.end()) {
      error(loc, format_message("record %s undefined", quote_atom(name).c_str()));
      return nullptr;
    }
    if (it->second.form->native) {
      error(loc, format_message("%s: only tuple records are supported", caller()));
      return nullptr;
    }
    it->second.used = true;
    return &it->second;
  }
  /// Returns the position of a field in the tuple, from 1; 0 after an error.
  std::int64_t position(const RecordInfo& r, std::string_view field, Loc loc) {
    const int index = r.field_index(field);
    if (index < 0)
      error(loc, format_message("field %s undefined in record %s", quote_atom(field).c_str(),
                                quote_atom(r.form->name).c_str()));
    return index < 0 ? 0 : index + 2;
  }
  /// Returns the value given for a field, or nullptr.
  static const Expr* given(const RecordExpr& e, std::string_view field) {
    const Expr* others = nullptr;
    for (const RecordFieldInit& f : e.fields) {
      if (f.name == field) return f.value;
      if (f.name == "_") others = f.value;
    }
    return others;
  }

  // The head.

  const Expr* top_pattern(const Expr& e) {
    if (e.is(ExprKind::kVar)) return pattern(e);
    if (e.is(ExprKind::kMatch)) {
      const auto& m = e.as<MatchExpr>();
      const Expr* name = m.left->is(ExprKind::kVar) ? m.left : m.right;
      const Expr* shape = m.left->is(ExprKind::kVar) ? m.right : m.left;
      if (!name->is(ExprKind::kVar)) return nullptr;
      whole_ = name->as<VarExpr>().name;
      return top_pattern(*shape);
    }
    if (for_trace_ ? e.is(ExprKind::kCons) || e.is(ExprKind::kNil)
                   : e.is(ExprKind::kTuple) || e.is(ExprKind::kRecord))
      return pattern(e);
    return nullptr;
  }

  const Expr* variable(const VarExpr& v) {
    if (v.anonymous()) return atom(v.loc, "_");
    auto it = std::find(variables_.begin(), variables_.end(), v.name);
    if (it == variables_.end()) it = variables_.insert(it, v.name);
    return atom(v.loc, "$" + std::to_string(it - variables_.begin() + 1));
  }

  /// Translates a pattern to a term: every part in its place.
  const Expr* pattern(const Expr& e) {
    auto all = [&](ExprList items) {
      std::vector<const Expr*> out;
      for (const Expr* i : items) out.push_back(pattern(*i));
      return out;
    };
    switch (e.kind) {
      case ExprKind::kVar: return variable(e.as<VarExpr>());
      case ExprKind::kTuple: return tuple(e.loc, all(e.as<TupleExpr>().elements));
      case ExprKind::kCons:
        return make<ConsExpr>(e.loc, keep(all(e.as<ConsExpr>().elements)), pattern(*e.as<ConsExpr>().tail));
      case ExprKind::kMap: {
        std::vector<MapField> fields;
        for (const MapField& f : e.as<MapExpr>().fields)
          fields.push_back({f.loc, false, pattern(*f.key), pattern(*f.value)});
        return make<MapExpr>(e.loc, nullptr, session_.arena.copy(fields));
      }
      case ExprKind::kRecord: {
        const auto& r = e.as<RecordExpr>();
        const RecordInfo* info = record(r.name, e.loc);
        if (!info) return make<NilExpr>(e.loc);
        for (const RecordFieldInit& f : r.fields)
          if (f.name != "_") position(*info, f.name, f.loc);
        std::vector<const Expr*> elements{atom(e.loc, r.name)};
        for (const RecordFieldDef& f : info->form->fields) {
          const Expr* value = given(r, f.name);
          elements.push_back(!value ? atom(e.loc, "_") : pattern(*value));
        }
        return tuple(e.loc, elements);
      }
      case ExprKind::kMatch:
        error(e.loc, format_message("%s: an alias is allowed for the whole parameter only", caller()));
        return make<NilExpr>(e.loc);
      default: return &e;
    }
  }

  // Guards and bodies.

  std::vector<const Expr*> values(ExprList items) {
    std::vector<const Expr*> out;
    for (const Expr* i : items) out.push_back(value(*i));
    return out;
  }

  const Expr* value(const Expr& e) {
    switch (e.kind) {
      case ExprKind::kInteger:
      case ExprKind::kFloat:
      case ExprKind::kString:
      case ExprKind::kNil:
      case ExprKind::kBinary: return &e;
      case ExprKind::kAtom: return is_special(e.as<AtomExpr>().name) ? constant(e.loc, &e) : &e;
      case ExprKind::kVar: {
        const auto& v = e.as<VarExpr>();
        if (!v.anonymous() && v.name == whole_) return atom(e.loc, "$_");
        if (std::find(variables_.begin(), variables_.end(), v.name) != variables_.end()) return variable(v);
        return constant(e.loc, &e);  // a variable of the surrounding function: its value
      }
      case ExprKind::kTuple: return made_tuple(e.loc, values(e.as<TupleExpr>().elements));
      case ExprKind::kCons:
        return make<ConsExpr>(e.loc, keep(values(e.as<ConsExpr>().elements)), value(*e.as<ConsExpr>().tail));
      case ExprKind::kMap: {
        if (e.as<MapExpr>().base != nullptr) return illegal(e);
        std::vector<MapField> fields;
        for (const MapField& f : e.as<MapExpr>().fields)
          fields.push_back({f.loc, f.exact, value(*f.key), value(*f.value)});
        return make<MapExpr>(e.loc, nullptr, session_.arena.copy(fields));
      }
      case ExprKind::kRecord: return record_value(e.as<RecordExpr>());
      case ExprKind::kRecordField: {
        const auto& f = e.as<RecordFieldExpr>();
        const RecordInfo* info = record(f.name, e.loc);
        if (!info) return make<NilExpr>(e.loc);
        return apply(e.loc, "element",
                     {integer(e.loc, position(*info, f.field, f.field_loc)), value(*f.base)});
      }
      case ExprKind::kRecordIndex: return &e;
      case ExprKind::kUnary: {
        const auto& u = e.as<UnaryExpr>();
        if ((u.op == Tok::kMinus || u.op == Tok::kPlus) &&
            (u.operand->is(ExprKind::kInteger) || u.operand->is(ExprKind::kFloat)))
          return &e;
        return apply(e.loc, token_spelling(u.op), {value(*u.operand)});
      }
      case ExprKind::kBinaryOp: {
        const auto& b = e.as<BinaryOpExpr>();
        if (b.op == Tok::kBang || b.op == Tok::kPlusPlus || b.op == Tok::kMinusMinus) return illegal(e);
        return apply(e.loc, token_spelling(b.op), {value(*b.left), value(*b.right)});
      }
      case ExprKind::kCall: return call(e.as<CallExpr>());
      default: return illegal(e);
    }
  }

  const Expr* record_value(const RecordExpr& e) {
    const RecordInfo* info = record(e.name, e.loc);
    if (!info) return make<NilExpr>(e.loc);
    for (const RecordFieldInit& f : e.fields)
      if (f.name != "_") position(*info, f.name, f.loc);
    std::vector<const Expr*> elements{atom(e.loc, e.name)};
    for (const RecordFieldDef& f : info->form->fields) {
      const Expr* own = given(e, f.name);
      if (!own && e.base) {
        elements.push_back(
            apply(e.loc, "element", {integer(e.loc, position(*info, f.name, f.loc)), value(*e.base)}));
        continue;
      }
      if (!own) own = f.initial;
      elements.push_back(!own ? atom(e.loc, "undefined") : value(*own));
    }
    return made_tuple(e.loc, elements);
  }

  const Expr* call(const CallExpr& e) {
    std::string_view name;
    const auto arity = static_cast<std::uint32_t>(e.args.size());
    if (e.target->is(ExprKind::kAtom)) {
      name = e.target->as<AtomExpr>().name;
    } else if (e.target->is(ExprKind::kRemote) && e.target->as<RemoteExpr>().function->is(ExprKind::kAtom)) {
      name = e.target->as<RemoteExpr>().function->as<AtomExpr>().name;
      if (!is_remote(*e.target, "erlang", name)) return illegal(e);
    } else {
      return illegal(e);
    }
    if (name == "object" && arity == 0) return atom(e.loc, "$_");
    if (name == "bindings" && arity == 0) return atom(e.loc, "$*");
    if (name == "is_record" && arity == 2 && e.args[1]->is(ExprKind::kAtom)) {
      const RecordInfo* info = record(e.args[1]->as<AtomExpr>().name, e.args[1]->loc);
      if (!info) return make<NilExpr>(e.loc);
      return apply(e.loc, name,
                   {value(*e.args[0]), e.args[1],
                    integer(e.loc, static_cast<std::int64_t>(info->form->fields.size()) + 1)});
    }
    auto is_this = [&](const Action& a) { return a.name == name && a.arity == arity; };
    if (std::find_if(std::begin(kTraceActions), std::end(kTraceActions), is_this) !=
        std::end(kTraceActions)) {
      if (for_trace_ && !in_guard_) return apply(e.loc, name, values(e.args));
    } else if (const Builtin* b = find_builtin(name, arity); b && b->guard) {
      return apply(e.loc, name, values(e.args));
    }
    error(e.loc, format_message("%s: function %s/%u cannot be called in the %s of a match specification",
                                caller(), quote_atom(name).c_str(), arity, in_guard_ ? "guard" : "body"));
    return make<NilExpr>(e.loc);
  }

  Session& session_;
  ModuleTables& t_;
  const bool for_trace_;
  bool in_guard_ = false;
  std::vector<std::string_view> variables_;  // variables of the head: $1, $2, …
  std::string_view whole_;                   // the name of the whole parameter
};

}  // namespace

const Expr* match_spec_call(Session& session, ModuleTables& tables, const CallExpr& call) {
  if (!tables.match_specs_from_funs || call.args.size() != 1) return nullptr;
  const bool for_trace = is_remote(*call.target, "dbg", "fun2ms");
  if (!for_trace && !is_remote(*call.target, "ets", "fun2ms")) return nullptr;
  auto [made, fresh] = tables.match_specs.try_emplace(&call, nullptr);
  if (!fresh) return made->second;
  const Expr& fun = *call.args[0];
  MatchSpec spec(session, tables, for_trace);
  std::vector<const Expr*> clauses;
  if (!fun.is(ExprKind::kFun) || !fun.as<FunExpr>().name.empty())
    session.diagnostics.error(fun.loc, "Parameter of ets/dbg:fun2ms/1 is not a literal fun");
  else
    for (const Clause* c : fun.as<FunExpr>().clauses) spec.clause(*c, clauses);
  return made->second = spec.list(call.loc, clauses);
}

}  // namespace vmrun::compile

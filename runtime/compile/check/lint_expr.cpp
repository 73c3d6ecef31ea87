// Lint of expressions.

#include <algorithm>
#include <map>

#include "runtime/compile/check/linting.hpp"
#include "runtime/compile/check/match_spec.hpp"
#include "runtime/compile/syntax/ast_walk.hpp"

namespace vmrun::compile {

void Linter::body(ExprList exprs) {
  for (size_t i = 0; i < exprs.size(); i++) {
    expr(*exprs[i]);
    if (i + 1 < exprs.size()) ignored_value(*exprs[i]);
  }
}

/// A statement that does nothing.
void Linter::ignored_value(const Expr& e) {
  switch (e.kind) {
    case ExprKind::kAtom:  // `ok` in the middle of a body is a common placeholder, and erlc is silent on it
    case ExprKind::kVar: return;
    case ExprKind::kInteger:
    case ExprKind::kFloat:
    case ExprKind::kString:
    case ExprKind::kNil: return;
    case ExprKind::kTuple:
    case ExprKind::kCons:
    case ExprKind::kBinary:
    case ExprKind::kFun:
    case ExprKind::kMap:
      if (e.is(ExprKind::kMap) && e.as<MapExpr>().base != nullptr) return;
      warning(e.loc, "a term is constructed, but never used");
      return;
    case ExprKind::kComprehension: return;
    case ExprKind::kBinaryOp: {
      Tok op = e.as<BinaryOpExpr>().op;
      if (op == Tok::kBang || op == Tok::kAndalso || op == Tok::kOrelse) return;
      warning(
          e.loc,
          format_message(
              "the result of evaluating operator '%.*s'/2 is ignored (suppress the warning by assigning the "
              "expression to the _ variable)",
              VIEW(token_spelling(op))));
      return;
    }
    default: return;
  }
}

void Linter::operands(const std::vector<const Expr*>& exprs) {
  Bindings all;
  for (const Expr* e : exprs) {
    size_t start = mark();
    expr(*e);
    if (mark() == start) continue;
    Bindings own = take_since(start);
    for (auto& [name, v] : own)  // one that an earlier operand binds too is compared with it
      if (std::ranges::find(all, name, &Bindings::value_type::first) != all.end()) v.usage->used = true;
    all.insert(all.end(), own.begin(), own.end());
  }
  put(all);
}

void Linter::expr(const Expr& e) {
  switch (e.kind) {
    case ExprKind::kVar: use(e.as<VarExpr>()); return;
    case ExprKind::kAtom:
    case ExprKind::kInteger:
    case ExprKind::kFloat:
    case ExprKind::kString:
    case ExprKind::kNil: return;
    case ExprKind::kCons: {
      const auto& c = e.as<ConsExpr>();
      std::vector<const Expr*> items(c.elements.begin(), c.elements.end());
      items.push_back(c.tail);
      operands(items);
      return;
    }
    case ExprKind::kTuple: operands(e.as<TupleExpr>().elements); return;
    case ExprKind::kMap: map_fields(e.as<MapExpr>()); return;
    case ExprKind::kBinary: {
      std::vector<const Expr*> items;
      for (const Segment& s : e.as<BinaryExpr>().segments) {
        items.push_back(s.value);
        if (s.size != nullptr) items.push_back(s.size);
        segment(s, false, true);
      }
      operands(items);
      return;
    }
    case ExprKind::kRecord: {
      const auto& r = e.as<RecordExpr>();
      std::vector<const Expr*> items;
      if (r.base != nullptr) items.push_back(r.base);
      if (const RecordInfo* info = record(r.name, e.loc)) {
        record_fields(r, *info);
      }
      for (const RecordFieldInit& f : r.fields) {
        items.push_back(f.value);
        if (r.base != nullptr && f.name == "_") error(f.loc, "'_' is not allowed in a record update");
      }
      operands(items);
      return;
    }
    case ExprKind::kRecordField: {
      const auto& r = e.as<RecordFieldExpr>();
      if (const RecordInfo* info = record(r.name, e.loc)) record_field(*info, r.field, r.field_loc);
      expr(*r.base);
      return;
    }
    case ExprKind::kRecordIndex: {
      const auto& r = e.as<RecordIndexExpr>();
      if (const RecordInfo* info = record(r.name, e.loc)) record_field(*info, r.field, r.field_loc);
      return;
    }
    case ExprKind::kUnary: expr(*e.as<UnaryExpr>().operand); return;
    case ExprKind::kBinaryOp: {
      const auto& b = e.as<BinaryOpExpr>();
      if (b.op == Tok::kAndalso || b.op == Tok::kOrelse) {
        expr(*b.left);
        size_t start = mark();
        expr(*b.right);
        put(take_since(start, token_spelling(b.op), e.loc));
        return;
      }
      operands({b.left, b.right});
      return;
    }
    case ExprKind::kMatch: {
      const auto& m = e.as<MatchExpr>();
      expr(*m.right);
      pattern(*m.left, {mark(), {}});
      return;
    }
    case ExprKind::kMaybeMatch: {
      const auto& m = e.as<MaybeMatchExpr>();
      expr(*m.right);
      pattern(*m.left, {mark(), {}});
      return;
    }
    case ExprKind::kCall: call(e.as<CallExpr>()); return;
    case ExprKind::kRemote: error(e.loc, "illegal expression"); return;
    case ExprKind::kFunLocal: {
      const auto& f = e.as<FunLocalExpr>();
      FunctionName name{f.name, f.arity};
      if (!t_.functions.count(name)) {
        if (auto import = t_.imports.find(name); import != t_.imports.end()) {
          import->second.used = true;
          return;
        }
        if (t_.auto_imports(name)) return;
      }
      use_function(name, e.loc);
      return;
    }
    case ExprKind::kFunRemote: {
      const auto& f = e.as<FunRemoteExpr>();
      operands({f.module, f.function, f.arity});
      return;
    }
    case ExprKind::kFun: {
      const auto& f = e.as<FunExpr>();
      size_t start = mark();
      if (!f.name.empty() && f.name != "_") {
        if (find(f.name) != nullptr && enabled("nowarn_shadow_vars"))
          warning(f.clauses[0]->loc, format_message("variable '%.*s' shadowed in 'named fun'", VIEW(f.name)));
        open_scope();
        bind(f.name, f.clauses[0]->loc);
        fun_clauses(f.clauses, "'fun'");
        close_scope();
      } else {
        fun_clauses(f.clauses, "'fun'");
      }
      undo(start);
      unreachable_clauses(f.clauses);
      return;
    }
    case ExprKind::kBlock: body(e.as<BlockExpr>().body); return;
    case ExprKind::kIf: clauses(e.as<IfExpr>().clauses, "if", e.loc); return;
    case ExprKind::kCase:
      expr(*e.as<CaseExpr>().subject);
      clauses(e.as<CaseExpr>().clauses, "case", e.loc);
      unreachable_clauses(e.as<CaseExpr>().clauses);
      return;
    case ExprKind::kReceive: {
      const auto& r = e.as<ReceiveExpr>();
      if (r.timeout != nullptr) expr(*r.timeout);
      clauses(r.clauses, "receive", e.loc, r.timeout != nullptr ? &r.timeout_body : nullptr);
      unreachable_clauses(r.clauses);
      return;
    }
    case ExprKind::kTry: try_expr(e.as<TryExpr>()); return;
    case ExprKind::kCatch: {
      size_t start = mark();
      expr(*e.as<CatchExpr>().body);
      put(take_since(start, "catch", e.loc));
      return;
    }
    case ExprKind::kMaybe: {
      const auto& m = e.as<MaybeExpr>();
      size_t start = mark();
      body(m.body);
      Bindings inner = take_since(start, "maybe", e.loc);
      put(inner);
      if (!m.else_clauses.empty()) {
        size_t before = mark();
        for (const Clause* c : m.else_clauses) {
          size_t s = mark();
          case_clause(*c);
          Bindings own = take_since(s, "else", e.loc);
          inner.insert(inner.end(), own.begin(), own.end());
        }
        undo(before);
        unreachable_clauses(m.else_clauses);
        put(inner);
      }
      return;
    }
    case ExprKind::kComprehension: comprehension(e.as<ComprehensionExpr>()); return;
  }
}

void Linter::map_fields(const MapExpr& e) {
  std::vector<const Expr*> items;
  if (e.base != nullptr) items.push_back(e.base);
  for (const MapField& f : e.fields) {
    items.push_back(f.key);
    items.push_back(f.value);
    if (f.exact && e.base == nullptr)
      error(f.loc, "only association operators '=>' are allowed in map construction");
  }
  operands(items);
}

void Linter::case_clause(const Clause& c) {
  patterns(c.patterns, {mark(), {}});
  guards(c.guards);
  body(c.body);
}

/// Branches of which one is taken. `extra_body` is the body behind `after`.
void Linter::clauses(ClauseList list, std::string_view what, Loc loc, const ExprList* extra_body) {
  std::vector<Bindings> branches;
  for (const Clause* c : list) {
    size_t start = mark();
    case_clause(*c);
    branches.push_back(take_since(start));
  }
  if (extra_body != nullptr) {
    size_t start = mark();
    body(*extra_body);
    branches.push_back(take_since(start));
  }
  merge(branches, what, loc);
}

/// What every branch binds is bound behind them; what only some bind is unsafe there.
void Linter::merge(std::vector<Bindings>& branches, std::string_view what, Loc loc) {
  std::vector<std::pair<std::string_view, Variable>> order;
  std::unordered_map<std::string_view, std::pair<size_t, bool>> seen;  // branches that bind it; unsafe in one
  for (Bindings& branch : branches)
    for (auto& [name, v] : branch) {
      auto [it, fresh] = seen.try_emplace(name, 0, false);
      it->second.first++;
      it->second.second = it->second.second || v.state == State::kUnsafe;
      if (fresh) order.emplace_back(name, v);
      else if (v.state == State::kUnsafe)
        for (auto& o : order)
          if (o.first == name) o.second = v;
    }
  for (auto& [name, v] : order) {
    auto [count, unsafe] = seen[name];
    if (unsafe) continue;
    if (count < branches.size()) v.state = State::kUnsafe;
    v.where = what;
    v.loc = loc;
  }
  put(order);
}

/// Clauses of a function or fun. Their variables end with them.
void Linter::fun_clauses(ClauseList list, std::string_view shadows) {
  for (const Clause* c : list) {
    size_t start = mark();
    open_scope();
    patterns(c->patterns, {start, shadows.empty() ? std::string_view("head") : shadows});
    guards(c->guards);
    body(c->body);
    undo(start);
    close_scope();
  }
}

void Linter::try_expr(const TryExpr& e) {
  size_t start = mark();
  body(e.body);
  Bindings all;
  for (const Clause* c : e.of_clauses) {
    size_t s = mark();
    case_clause(*c);
    Bindings own = take_since(s, "try", e.loc);
    all.insert(all.end(), own.begin(), own.end());
  }
  unreachable_clauses(e.of_clauses);
  Bindings unsafe = take_since(start, "try", e.loc);
  put(unsafe);
  for (const Clause* c : e.catch_clauses) {
    size_t s = mark();
    patterns(c->patterns.first(2), {s, {}});
    const auto& stack = c->patterns[2]->as<VarExpr>();
    if (!stack.anonymous() && find(stack.name) != nullptr) {
      error(stack.loc,
            format_message("stacktrace variable '%.*s' must not be previously bound", VIEW(stack.name)));
    } else if (stack.anonymous()) {
      guards(c->guards);
      body(c->body);
    } else {
      for (const ExprList& tests : c->guards)
        for (const Expr* t : tests) {
          auto visit = [&](auto& self, const Expr& x) -> void {
            if (x.is(ExprKind::kVar) && x.as<VarExpr>().name == stack.name)
              error(x.loc, format_message("stacktrace variable '%.*s' must not be used in the guard",
                                          VIEW(stack.name)));
            for_each_child(x, [&](const Expr& child) { self(self, child); });
          };
          visit(visit, *t);
        }
      bind(stack.name, stack.loc);
      guards(c->guards);
      body(c->body);
    }
    Bindings own = take_since(s, "try", e.loc);
    all.insert(all.end(), own.begin(), own.end());
  }
  put(all);
  if (!e.after.empty()) {
    size_t s = mark();
    body(e.after);
    Bindings own = take_since(s, "try", e.loc);
    put(own);
  }
}

void Linter::comprehension(const ComprehensionExpr& e) {
  size_t start = mark();
  open_scope();
  for (const Qualifier& q : e.qualifiers) {
    if (q.kind == QualifierKind::kFilter) {
      expr(*q.source);
      continue;
    }
    // The source does not see the variables it is about to give values to, nor hands on its own.
    size_t s = mark();
    open_scope();
    expr(*q.source);
    undo(s);
    close_scope();
    if (q.kind == QualifierKind::kBinary && !q.pattern->is(ExprKind::kBinary)) {
      error(q.pattern->loc, "illegal pattern: a binary generator takes a binary, as in <<X>> <= Bytes");
      continue;
    }
    if (q.kind == QualifierKind::kBinary) sized_fields(q.pattern->as<BinaryExpr>());
    pattern(*q.pattern, {s, "generate"});
    if (q.value_pattern != nullptr) pattern(*q.value_pattern, {s, "generate"});
  }
  if (e.key != nullptr) operands({e.key, e.value});
  else expr(*e.value);
  undo(start);
  close_scope();
}

/// Clauses behind one that always matches.
void Linter::unreachable_clauses(ClauseList list) {
  const Clause* always = nullptr;
  for (const Clause* c : list) {
    if (always != nullptr) {
      warning(c->loc,
              format_message("this clause cannot match because a previous clause at line %u always matches",
                             always->loc.line));
      continue;
    }
    bool open = true;
    std::unordered_set<std::string_view> names;
    for (const Expr* p : c->patterns)
      open = open && p->is(ExprKind::kVar) &&
             (p->as<VarExpr>().anonymous() || names.insert(p->as<VarExpr>().name).second);
    if (!open) continue;
    if (!c->guards.empty()) {
      bool sure = c->guards.size() == 1 && c->guards[0].size() == 1 && c->guards[0][0]->is(ExprKind::kAtom) &&
                  c->guards[0][0]->as<AtomExpr>().name == "true";
      if (!sure) continue;
    }
    // A variable that has a value already is compared. Patterns of case and receive bind none that
    // is visible here.
    bool compared =
        std::any_of(names.begin(), names.end(), [&](std::string_view n) { return find(n) != nullptr; });
    bool head = !c->name.empty();
    if (!compared || head) always = c;
  }
}

// --- calls ---------------------------------------------------------------------------------------

void Linter::call(const CallExpr& e) {
  if (const Expr* spec = match_spec_call(session_, t_, e)) return expr(*spec);
  if (e.target->is(ExprKind::kAtom)) {
    local_call(e, e.target->as<AtomExpr>().name);
    return;
  }
  std::vector<const Expr*> items;
  if (e.target->is(ExprKind::kRemote)) {
    const auto& r = e.target->as<RemoteExpr>();
    items = {r.module, r.function};
    if (r.module->is(ExprKind::kAtom) && r.function->is(ExprKind::kAtom))
      format_call(e, r.module->as<AtomExpr>().name, r.function->as<AtomExpr>().name);
  } else {
    items.push_back(e.target);
  }
  items.insert(items.end(), e.args.begin(), e.args.end());
  operands(items);
}

void Linter::local_call(const CallExpr& e, std::string_view plain) {
  FunctionName name{plain, static_cast<uint32_t>(e.args.size())};
  if (plain == "record_info" && name.arity == 2 && !t_.functions.count(name)) {
    bool good = e.args[0]->is(ExprKind::kAtom) && e.args[1]->is(ExprKind::kAtom) &&
                (e.args[0]->as<AtomExpr>().name == "fields" || e.args[0]->as<AtomExpr>().name == "size");
    if (!good) error(e.loc, "illegal record info");
    else record(e.args[1]->as<AtomExpr>().name, e.args[1]->loc);
    return;
  }
  operands(e.args);
  const Builtin* builtin = find_builtin(name.name, name.arity);
  if (t_.functions.count(name)) {
    if (builtin != nullptr && builtin->auto_imported && t_.auto_imports(name) &&
        enabled("nowarn_bif_clash")) {
      std::string text = format_message(
          "ambiguous call of overridden %sauto-imported BIF %.*s/%u - use erlang:%.*s/%u or "
          "\"-compile({no_auto_import,[%.*s/%u]}).\" to resolve name clash",
          builtin->classic ? "pre R14 " : "", VIEW(plain), name.arity, VIEW(plain), name.arity, VIEW(plain),
          name.arity);
      if (builtin->classic) error(e.loc, text);
      else warning(e.loc, text);
    }
    use_function(name, e.loc);
    return;
  }
  if (auto import = t_.imports.find(name); import != t_.imports.end()) {
    import->second.used = true;
    format_call(e, import->second.module, plain);
    return;
  }
  if (builtin != nullptr && builtin->auto_imported && t_.auto_imports(name)) {
    if (plain == "is_record" && name.arity == 2 && e.args[1]->is(ExprKind::kAtom))
      if (auto r = t_.records.find(e.args[1]->as<AtomExpr>().name); r != t_.records.end())
        r->second.used = true;
    return;
  }
  use_function(name, e.loc);
}

// --- records -------------------------------------------------------------------------------------

const RecordInfo* Linter::record(std::string_view name, Loc loc) {
  auto it = t_.records.find(name);
  if (it == t_.records.end() || it->second.order > form_order_) {
    error(loc, format_message("record %s undefined", quote_atom(name).c_str()));
    return nullptr;
  }
  it->second.used = true;
  return &it->second;
}

void Linter::record_field(const RecordInfo& r, std::string_view field, Loc loc) {
  if (r.field_index(field) < 0)
    error(loc, format_message("field %s undefined in record %s", quote_atom(field).c_str(),
                              quote_atom(r.form->name).c_str()));
}

void Linter::record_fields(const RecordExpr& e, const RecordInfo& r) {
  std::unordered_set<std::string_view> seen;
  for (const RecordFieldInit& f : e.fields) {
    if (!seen.insert(f.name).second)
      error(f.loc, format_message("field %s already defined in record %s", quote_atom(f.name).c_str(),
                                  quote_atom(e.name).c_str()));
    if (f.name != "_") record_field(r, f.name, f.loc);
  }
}

// --- format strings ------------------------------------------------------------------------------

/// Number of arguments a format string takes, or an explanation why it is none.
static int format_arguments(std::u32string_view f, std::string& problem) {
  int count = 0;
  auto bad = [&](std::string what) {
    problem = std::move(what);
    return -1;
  };
  for (size_t i = 0; i < f.size(); i++) {
    if (f[i] != '~') continue;
    auto number = [&] {
      if (i < f.size() && f[i] == '-') i++;
      if (i < f.size() && f[i] == '*') {
        count++;
        i++;
        return;
      }
      while (i < f.size() && f[i] >= '0' && f[i] <= '9') i++;
    };
    i++;
    number();
    if (i < f.size() && f[i] == '.') {
      i++;
      number();
      if (i < f.size() && f[i] == '.') {
        i++;
        if (i < f.size() && f[i] == '*') count++;
        i++;
      }
    }
    while (i < f.size() && (f[i] == 't' || f[i] == 'l' || f[i] == 'k' || f[i] == 'K')) {
      if (f[i] == 'K') count++;
      i++;
    }
    if (i >= f.size()) return bad("truncated");
    switch (f[i]) {
      case '~':
      case 'n': break;
      case 'c':
      case 'f':
      case 'e':
      case 'g':
      case 's':
      case 'w':
      case 'p':
      case 'b':
      case 'B':
      case '#':
      case '+':
      case 'i': count++; break;
      case 'W':
      case 'P':
      case 'x':
      case 'X': count += 2; break;
      default: {
        std::string c = "invalid control ~";
        append_utf8(c, f[i]);
        return bad(c);
      }
    }
  }
  return count;
}

void Linter::format_call(const CallExpr& e, std::string_view module, std::string_view name) {
  if (t_.has_option("nowarn_format")) return;
  bool io = module == "io" && (name == "format" || name == "fwrite");
  bool lib = module == "io_lib" && (name == "format" || name == "fwrite");
  size_t n = e.args.size();
  if ((!io && !lib) || n < 1 || n > 3 || (lib && n != 2)) return;
  const Expr* string = n == 3 ? e.args[1] : e.args[0];
  const Expr* args = n == 1 ? nullptr : e.args[n - 1];
  if (n == 2 && !string->is(ExprKind::kString) && e.args[1]->is(ExprKind::kString)) {
    string = e.args[1];  // io:format(Device, "text")
    args = nullptr;
  }
  if (!string->is(ExprKind::kString)) return;
  std::string problem;
  int wanted = format_arguments(string->as<StringExpr>().chars, problem);
  if (wanted < 0) return warning(string->loc, "format string invalid (" + problem + ")");
  size_t given = 0;
  const Expr* at = args;
  while (at != nullptr && at->is(ExprKind::kCons)) {
    given += at->as<ConsExpr>().elements.size();
    at = at->as<ConsExpr>().tail;
  }
  if (at != nullptr && !at->is(ExprKind::kNil)) return;
  if (n == 2 && args == nullptr && wanted == 0) return;
  if (given != static_cast<size_t>(wanted))
    warning(string->loc,
            format_message("the format string requires an argument list with %d argument%s, but the argument "
                           "list contains %s%zu argument%s",
                           wanted, wanted == 1 ? "" : "s", given < static_cast<size_t>(wanted) ? "only " : "",
                           given, given == 1 ? "" : "s"));
}

}  // namespace vmrun::compile

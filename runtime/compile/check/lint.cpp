// Lint: module level and the bookkeeping of variables.

#include "runtime/compile/check/lint.hpp"

#include <algorithm>

#include "runtime/compile/check/linting.hpp"

namespace vmrun::compile {

void lint_module(Session& session, const ParsedModule& module, ModuleTables& tables) {
  Linter(session, module, tables).run();
}

void Linter::run() {
  for (form_order_ = 0; form_order_ < module_.forms.size(); form_order_++) {
    const Form& form = *module_.forms[form_order_];
    if (form.kind == FormKind::kFunction && !left_out(form.as<FunctionForm>()))
      check_function(form.as<FunctionForm>());
    if (form.kind == FormKind::kRecord) check_record(form.as<RecordForm>());
  }
  check_types();
  check_exports();
  check_calls();
  check_unused_functions();
  check_unused_records();
  check_behaviours();
  if (t_.has_option("warn_unused_import"))
    for (auto& [name, import] : t_.imports)
      if (!import.used && unread_.names.count(name.name) == 0)
        warning(import.loc, format_message("import %s:%s/%u is unused", quote_atom(import.module).c_str(),
                                           quote_atom(name.name).c_str(), name.arity));
}

void Linter::check_function(const FunctionForm& f) {
  current_ = {f.name, f.arity};
  fun_clauses(f.clauses, "");
  unreachable_clauses(f.clauses);
  current_ = {};
}

void Linter::check_record(const RecordForm& r) {
  for (const RecordFieldDef& f : r.fields) {
    if (f.initial == nullptr) continue;
    open_scope();
    expr(*f.initial);
    undo(0);
    close_scope();
  }
}

void Linter::check_exports() {
  if (t_.export_all && enabled("nowarn_export_all"))
    warning(t_.export_all_loc, "export_all flag enabled - all functions will be exported");
  for (const NamedFunction& e : t_.exports) {
    bool predefined = e.name.name == "module_info" && e.name.arity < 2;
    predefined = predefined || (e.name == FunctionName{"behaviour_info", 1} && !t_.callbacks.empty());
    if (!predefined && !t_.functions.count(e.name) && !may_be_unread(e.name.name))
      error(e.loc, format_message("function %s/%u undefined", quote_atom(e.name.name).c_str(), e.name.arity));
  }
}

void Linter::use_function(FunctionName name, Loc loc) { uses_.push_back({current_, name, loc}); }

void Linter::check_calls() {
  for (const Use& u : uses_) {
    if (t_.functions.count(u.to) || may_be_unread(u.to.name)) continue;
    if (u.to.name == "module_info" && u.to.arity < 2) continue;
    if (u.to == FunctionName{"behaviour_info", 1} && !t_.callbacks.empty()) continue;
    // Name the same function of another arity: the usual mistake.
    std::string others;
    for (const FunctionForm* f : t_.function_order)
      if (f->name == u.to.name) others += format_message("%s%u", others.empty() ? "" : ", ", f->arity);
    std::string hint = others.empty() ? "" : " (there is one of arity " + others + ")";
    error(u.loc, format_message("function %s/%u undefined%s", quote_atom(u.to.name).c_str(), u.to.arity,
                                hint.c_str()));
  }
}

/// Functions that no exported one leads to, nor a form that could not be read.
void Linter::check_unused_functions() {
  if (t_.export_all || !enabled("nowarn_unused_function")) return;
  std::unordered_map<FunctionName, std::vector<FunctionName>, FunctionNameHash> calls;
  std::vector<FunctionName> pending;
  for (const Use& u : uses_) {
    if (u.from.name.empty()) pending.push_back(u.to);  // from a record's default
    else calls[u.from].push_back(u.to);
  }
  for (const NamedFunction& e : t_.exports) pending.push_back(e.name);
  if (t_.on_load) pending.push_back(t_.on_load->name);
  for (const FunctionForm* f : t_.function_order)
    if (unread_.names.count(f->name)) pending.push_back({f->name, f->arity});
  std::unordered_set<FunctionName, FunctionNameHash> reached;
  while (!pending.empty()) {
    FunctionName f = pending.back();
    pending.pop_back();
    if (!reached.insert(f).second) continue;
    auto& next = calls[f];
    pending.insert(pending.end(), next.begin(), next.end());
  }
  for (const FunctionForm* f : t_.function_order) {
    FunctionName name{f->name, f->arity};
    if (!reached.count(name) && !t_.nowarn_unused.count(name))
      warning(f->loc, format_message("function %s/%u is unused", quote_atom(f->name).c_str(), f->arity));
  }
}

void Linter::check_unused_records() {
  if (!enabled("nowarn_unused_record")) return;
  for (auto& [name, r] : t_.records)
    if (!r.used && in_main_file(r.form->loc) && unread_.names.count(name) == 0)
      warning(r.form->loc, format_message("record %s is unused", quote_atom(name).c_str()));
}

void Linter::check_behaviours() {
  for (const BehaviourInfo& b : t_.behaviours)
    for (const FunctionName& f : required_callbacks(b.name))
      if (!may_be_unread(f.name) && (!t_.is_exported(f) || !t_.functions.count(f)))
        warning(b.loc, format_message("undefined callback function %s/%u (behaviour '%.*s')",
                                      quote_atom(f.name).c_str(), f.arity, VIEW(b.name)));
}

// --- variables -----------------------------------------------------------------------------------

Linter::Variable* Linter::find(std::string_view name) {
  auto it = vars_.find(name);
  Variable* known = it == vars_.end() ? nullptr : &it->second;
  if (std::ranges::find(hidden_.own, name) == hidden_.own.end())
    for (size_t i = hidden_.to; i-- > hidden_.from;)
      if (trail_[i].name == name) known = &trail_[i].previous;
  return known == nullptr || known->state == State::kUnbound ? nullptr : known;
}

void Linter::set(std::string_view name, Variable v) {
  Variable& slot = vars_[name];
  trail_.push_back({name, slot});
  slot = v;
}

Linter::Usage* Linter::usage_of(std::string_view name) {
  Scope& scope = scopes_.back();
  auto [it, fresh] = scope.usages.try_emplace(name);
  if (fresh) {
    usages_.emplace_back();
    it->second = &usages_.back();
    scope.order.emplace_back(name, it->second);
  }
  return it->second;
}

void Linter::bind(std::string_view name, Loc loc) {
  Variable v;
  v.state = State::kBound;
  v.usage = usage_of(name);
  v.usage->bound_at.push_back(loc);
  v.loc = loc;
  set(name, v);
}

void Linter::undo(size_t mark) {
  while (trail_.size() > mark) {
    vars_[trail_.back().name] = trail_.back().previous;
    trail_.pop_back();
  }
}

Linter::Bindings Linter::bound_since(size_t mark) {
  Bindings out;
  for (size_t i = mark; i < trail_.size(); i++) {
    auto same = [&](auto& b) { return b.first == trail_[i].name; };
    if (std::none_of(out.begin(), out.end(), same)) out.emplace_back(trail_[i].name, vars_[trail_[i].name]);
  }
  return out;
}

Linter::Bindings Linter::take_since(size_t mark, std::string_view where, Loc loc) {
  Bindings out = bound_since(mark);
  undo(mark);
  for (auto& [name, v] : out) {
    if (where.empty() || v.state == State::kUnsafe) continue;
    v.state = State::kUnsafe;
    v.where = where;
    v.loc = loc;
  }
  return out;
}

void Linter::put(const Bindings& bindings) {
  for (auto& [name, v] : bindings) {
    Variable* old = find(name);
    if (old != nullptr && old->state == State::kUnsafe) continue;
    set(name, v);
  }
}

void Linter::use(const VarExpr& v) {
  if (v.anonymous()) return error(v.loc, "variable '_' is unbound");
  Variable* known = find(v.name);
  if (known != nullptr) {
    known->usage->used = true;
    if (known->state == State::kBound && known->where.empty()) return;
    if (known->state == State::kBound) {
      Variable read = *known;
      read.where = {};
      return set(v.name, read);
    }
    error(v.loc, format_message("variable '%.*s' unsafe in '%.*s' (line %u, column %u)", VIEW(v.name),
                                VIEW(known->where), known->loc.line, known->loc.column));
  } else {
    error(v.loc, format_message("variable '%.*s' is unbound", VIEW(v.name)));
  }
  // Said once is enough.
  Variable now;
  now.state = State::kBound;
  now.usage = usage_of(v.name);
  now.usage->used = true;
  now.loc = v.loc;
  set(v.name, now);
}

void Linter::close_scope() {
  if (enabled("nowarn_unused_vars"))
    for (auto& [name, usage] : scopes_.back().order)
      if (!usage->used && !name.starts_with('_'))
        for (Loc loc : usage->bound_at) warning(loc, format_message("variable '%.*s' is unused", VIEW(name)));
  scopes_.pop_back();
}

}  // namespace vmrun::compile

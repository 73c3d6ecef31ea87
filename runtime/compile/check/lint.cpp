// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/check/lint.hpp"

#include "runtime/compile/check/lint_attributes.hpp"
#include "runtime/compile/check/lint_expr.hpp"
#include "runtime/compile/check/lint_types.hpp"
#include "runtime/compile/check/meant.hpp"
#include "runtime/compile/syntax/ast_walk.hpp"

namespace vmrun::compile {

namespace {

/// Checks the module as a whole: walks its functions and records, then checks what must fit
/// together.
class Linter {
 public:
  Linter(Session& session, const ParsedModule& module, ModuleTables& tables) : c_{session, module, tables} {}
  void run();

 private:
  void check_function(const FunctionForm& f);
  void check_record(const RecordForm& r);
  void check_exports();
  void check_exported_records();
  void check_unused_records();
  void check_behaviours();
  /// Whether the function is a test that is not compiled into the module.
  bool left_out(const FunctionForm& f) const { return c_.tables.functions.count({f.name, f.arity}) == 0; }

  LintContext c_;
  Variables vars_{c_};
  FunctionUses functions_{c_};
  ExprLinter exprs_{c_, vars_, functions_};
};

void Linter::run() {
  for (c_.form_order = 0; c_.form_order < c_.module.forms.size(); ++c_.form_order) {
    const Form& form = *c_.module.forms[c_.form_order];
    if (form.kind == FormKind::kFunction && !left_out(form.as<FunctionForm>()))
      check_function(form.as<FunctionForm>());
    if (form.kind == FormKind::kRecord) check_record(form.as<RecordForm>());
  }
  TypeLinter(c_).run();
  AttributeLinter(c_).run();
  check_exports();
  functions_.check_calls();
  functions_.check_unused();
  check_exported_records();
  check_unused_records();
  check_behaviours();
  if (c_.tables.has_option("warn_unused_import"))
    for (auto& [name, import] : c_.tables.imports)
      if (!import.used && !c_.may_be_used(name.name))
        c_.warning(import.loc, format_message("import %s:%s/%u is unused", quote_atom(import.module).c_str(),
                                              quote_atom(name.name).c_str(), name.arity));
}

void Linter::check_function(const FunctionForm& f) {
  functions_.set_user({f.name, f.arity});
  exprs_.fun_clauses(f.clauses, "");
  exprs_.unreachable_clauses(f.clauses);
  functions_.set_user({});
}

/// Whether the value of an expression is known to the compiler, as that of a field of a native
/// record must be.
bool is_default(const Expr& e) {
  switch (e.kind) {
    case ExprKind::kVar:
    case ExprKind::kRecord:
    case ExprKind::kRecordField: return false;
    case ExprKind::kAtom:
    case ExprKind::kInteger:
    case ExprKind::kFloat:
    case ExprKind::kString:
    case ExprKind::kNil:
    case ExprKind::kCons:
    case ExprKind::kTuple:
    case ExprKind::kMap:
    case ExprKind::kBinary:
    case ExprKind::kUnary:
    case ExprKind::kBinaryOp: break;
    default: return false;
  }
  bool good = true;
  for_each_child(e, [&](const Expr& part) { good = good && is_default(part); });
  return good;
}

void Linter::check_record(const RecordForm& r) {
  for (const RecordFieldDef& f : r.fields) {
    if (!f.initial) continue;
    if (r.native && !is_default(*f.initial)) {
      c_.error(f.loc, format_message("illegal default value for field %s in native record %s",
                                     quote_atom(f.name).c_str(), quote_atom(r.name).c_str()));
      continue;
    }
    vars_.open_scope();
    exprs_.expr(*f.initial);
    vars_.undo(0);
    vars_.close_scope();
  }
}

void Linter::check_exports() {
  if (c_.tables.export_all && c_.enabled("nowarn_export_all"))
    c_.warning(c_.tables.export_all_loc, "export_all flag enabled - all functions will be exported");
  for (const NamedFunction& e : c_.tables.exports) {
    bool predefined = e.name.name == "module_info" && e.name.arity < 2;
    predefined = predefined || (e.name == FunctionName{"behaviour_info", 1} && !c_.tables.callbacks.empty());
    if (!predefined && !c_.tables.functions.count(e.name) && !c_.may_be_unread(e.name.name))
      c_.error(e.loc,
               format_message("function %s/%u undefined%s", quote_atom(e.name.name).c_str(), e.name.arity,
                              meant_function(c_.tables, e.name, Callable::kOwn).c_str()));
  }
}

void Linter::check_exported_records() {
  for (auto& [name, loc] : c_.tables.exported_records) {
    auto r = c_.tables.records.find(name);
    if (r == c_.tables.records.end()) {
      if (!c_.may_be_unread(name))
        c_.error(loc, format_message("native record %s undefined", quote_atom(name).c_str()));
      continue;
    }
    r->second.used = true;
    if (!r->second.form->native) c_.error(loc, "tuple records cannot be exported; only native records can");
  }
}

void Linter::check_unused_records() {
  if (!c_.enabled("nowarn_unused_record")) return;
  for (auto& [name, r] : c_.tables.records)
    if (!r.used && c_.in_main_file(r.form->loc) && !c_.may_be_used(name))
      c_.warning(r.form->loc, format_message("record %s is unused", quote_atom(name).c_str()));
}

void Linter::check_behaviours() {
  for (const BehaviourInfo& b : c_.tables.behaviours)
    for (const FunctionName& f : required_callbacks(b.name))
      if (!c_.may_be_unread(f.name) && (!c_.tables.is_exported(f) || !c_.tables.functions.count(f)))
        c_.warning(b.loc, format_message("undefined callback function %s/%u (behaviour '%.*s')",
                                         quote_atom(f.name).c_str(), f.arity, VIEW(b.name)));
}

}  // namespace

void lint_module(Session& session, const ParsedModule& module, ModuleTables& tables) {
  Linter(session, module, tables).run();
}

}  // namespace vmrun::compile

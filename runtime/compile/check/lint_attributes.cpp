// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/check/lint_attributes.hpp"

#include <algorithm>

#include "runtime/compile/check/attribute_terms.hpp"
#include "runtime/compile/check/meant.hpp"

namespace vmrun::compile {

/// Functions of a name; the arity '_' stands for all of them, and with the name '_' for the module.
struct AttributeLinter::Family {
  const Expr* name;
  const Expr* arity;
  bool all() const { return is_any(*name) && is_any(*arity); }
  std::string text() const { return term_text(*name) + "/" + term_text(*arity); }
  static bool is_any(const Expr& e) { return e.is(ExprKind::kAtom) && e.as<AtomExpr>().name == "_"; }
};

namespace {

using Family = AttributeLinter::Family;

/// What `-dialyzer` takes; nowarn_function only with functions.
constexpr std::string_view kDialyzerOptions[] = {"error_handling",
                                                 "extra_return",
                                                 "missing_return",
                                                 "no_behaviours",
                                                 "no_contracts",
                                                 "no_extra_return",
                                                 "no_fail_call",
                                                 "no_fun_app",
                                                 "no_improper_lists",
                                                 "no_match",
                                                 "no_missing_calls",
                                                 "no_missing_return",
                                                 "no_opaque",
                                                 "no_opaque_union",
                                                 "no_return",
                                                 "no_undefined_callbacks",
                                                 "no_underspecs",
                                                 "no_unknown",
                                                 "no_unused",
                                                 "opaque_union",
                                                 "overlapping_contract",
                                                 "overspecs",
                                                 "race_conditions",
                                                 "specdiffs",
                                                 "underspecs",
                                                 "unknown",
                                                 "unmatched_returns"};

std::string_view atom_text(const Expr& e) {
  return e.is(ExprKind::kAtom) ? e.as<AtomExpr>().name : std::string_view();
}

/// Whether this may stand behind name and arity in -deprecated and -removed.
bool is_advice(const Expr& e, bool flags) {
  const std::string_view flag = atom_text(e);
  if (flags && (flag == "next_version" || flag == "next_major_release" || flag == "eventually")) return true;
  return e.is(ExprKind::kString) || e.is(ExprKind::kNil) ||
         (e.is(ExprKind::kCons) && each_element(e, [](const Expr& c) { return c.is(ExprKind::kInteger); }));
}

/// Reads the functions that -deprecated and -removed name: name/arity, {Name, Arity}, or
/// {Name, Arity, Advice}.
std::optional<Family> family_of(const Expr& e, bool flags) {
  if (name_arity(e, false)) return Family{e.as<BinaryOpExpr>().left, e.as<BinaryOpExpr>().right};
  const ExprList parts = e.is(ExprKind::kTuple) ? e.as<TupleExpr>().elements : ExprList();
  if (parts.size() != 2 && (parts.size() != 3 || !is_advice(*parts[2], flags))) return std::nullopt;
  if (!parts[0]->is(ExprKind::kAtom)) return std::nullopt;
  if (!parts[1]->is(ExprKind::kInteger) && atom_text(*parts[1]) != "_") return std::nullopt;
  return Family{parts[0], parts[1]};
}

}  // namespace

void AttributeLinter::run() {
  for (const Form* f : c_.module.forms)
    if (f->kind == FormKind::kAttribute && f->as<AttributeForm>().values.size() == 1)
      attribute(f->as<AttributeForm>());
}

void AttributeLinter::attribute(const AttributeForm& a) {
  const Expr& value = *a.values[0];
  const auto each = [&](void (AttributeLinter::*one)(const AttributeForm&, const Expr&)) {
    each_or_itself(value, [&](const Expr& e) { (this->*one)(a, e); });
  };
  if (!is_term(value, true)) return;
  if (a.name == "optional_callbacks") optional_callbacks(a);
  if (a.name == "compile") each(&AttributeLinter::compile_option);
  if (a.name == "dialyzer") each(&AttributeLinter::dialyzer);
  if (a.name == "deprecated") each(&AttributeLinter::deprecated);
  if (a.name == "removed") each(&AttributeLinter::removed);
}

/// Checks functions that are named one by one or in a list; `what` comes before the message.
void AttributeLinter::functions(const AttributeForm& a, const Expr& list, std::string_view what,
                                bool imported) {
  each_or_itself(list, [&](const Expr& e) {
    const auto name = name_arity(e, true);
    if (!name) return c_.error(a.loc, "badly formed attribute " + term_text(e));
    const bool known = c_.tables.functions.count(*name) || (imported && c_.tables.imports.count(*name));
    if (known || c_.may_be_unread(name->name)) return;
    c_.error(a.loc, format_message("%.*s %s/%u undefined%s", VIEW(what), quote_atom(name->name).c_str(),
                                   name->arity, meant_function(c_.tables, *name, Callable::kOwn).c_str()));
  });
}

void AttributeLinter::compile_option(const AttributeForm& a, const Expr& e) {
  if (!e.is(ExprKind::kTuple)) return;
  const ExprList parts = e.as<TupleExpr>().elements;
  if (parts.size() != 2 || !parts[0]->is(ExprKind::kAtom)) return;
  const std::string_view option = parts[0]->as<AtomExpr>().name;
  if (option == "inline") functions(a, *parts[1], "inlined function", true);
  if (option == "nowarn_unused_record")
    each_or_itself(*parts[1], [&](const Expr& r) {
      if (!c_.tables.records.count(atom_text(r)) && !c_.may_be_unread(atom_text(r)))
        c_.error(a.loc, format_message("record %s undefined", term_text(r).c_str()));
    });
  if (option == "nowarn_unused_function") functions(a, *parts[1], "function", true);
}

void AttributeLinter::dialyzer_option(const AttributeForm& a, const Expr& option, bool of_function) {
  const std::string_view name = option.as<AtomExpr>().name;
  const bool known =
      std::find(std::begin(kDialyzerOptions), std::end(kDialyzerOptions), name) != std::end(kDialyzerOptions);
  if (!known && !(of_function && name == "nowarn_function"))
    c_.error(a.loc, "unknown dialyzer warning option: " + quote_atom(name));
}

/// An option, or {Options, Functions}.
void AttributeLinter::dialyzer(const AttributeForm& a, const Expr& e) {
  const auto bad = [&](const std::string& text) {
    c_.error(a.loc, "badly formed dialyzer attribute: " + text);
  };
  if (e.is(ExprKind::kAtom)) return dialyzer_option(a, e, false);
  if (!e.is(ExprKind::kTuple) || e.as<TupleExpr>().elements.size() != 2) return bad(term_text(e));
  const Expr& options = *e.as<TupleExpr>().elements[0];
  const Expr& of = *e.as<TupleExpr>().elements[1];
  bool good = true;
  each_or_itself(options, [&](const Expr& o) { good = good && o.is(ExprKind::kAtom); });
  if (!good) return bad(term_text(e));
  each_or_itself(options, [&](const Expr& o) { dialyzer_option(a, o, true); });
  each_or_itself(of, [&](const Expr& f) {
    if (name_arity(f, true)) return functions(a, f, "function", false);
    bad("{" + term_text(options) + "," + term_text(f) + "}");
  });
}

/// A list in which something else stands is not the declaration of a behaviour.
void AttributeLinter::optional_callbacks(const AttributeForm& a) {
  std::vector<FunctionName> names;
  const bool list = each_element(*a.values[0], [&](const Expr& e) {
    const auto name = name_arity(e, true);
    if (name) names.push_back(*name);
    return name.has_value();
  });
  if (!list) return;
  for (const FunctionName& f : names) {
    const std::string text = format_message("%s/%u", quote_atom(f.name).c_str(), f.arity);
    if (!optional_.insert(f).second) {
      c_.error(a.loc, format_message("optional callback %s duplicated", text.c_str()));
      continue;
    }
    const bool known =
        std::any_of(c_.tables.callbacks.begin(), c_.tables.callbacks.end(),
                    [&](const SpecForm* s) { return s->name == f.name && s->arity == f.arity; });
    if (!known && !c_.may_be_unread(f.name))
      c_.error(a.loc, format_message("callback %s is undefined", text.c_str()));
  }
}

/// Whether a function of the family is exported.
bool AttributeLinter::is_exported(const Family& family) const {
  for (const auto& [f, info] : c_.tables.functions) {
    const bool named = family.all() || atom_text(*family.name) == f.name;
    const bool counted = !family.arity->is(ExprKind::kInteger) ||
                         family.arity->as<IntegerExpr>().value == static_cast<std::int64_t>(f.arity);
    if (named && counted && c_.tables.is_exported(f)) return true;
  }
  return false;
}

/// `module`, or functions, with a text or a flag behind.
void AttributeLinter::deprecated(const AttributeForm& a, const Expr& e) {
  if (atom_text(e) == "module") return;
  const auto family = family_of(e, true);
  if (!family) return c_.error(a.loc, "badly formed deprecated attribute " + term_text(e));
  if (family->all() || is_exported(*family) || c_.may_be_unread(atom_text(*family->name))) return;
  c_.error(a.loc, "deprecated function " + family->text() + " undefined or not exported");
}

/// `module`, or functions, with a text behind.
void AttributeLinter::removed(const AttributeForm& a, const Expr& e) {
  const AtomExpr any({}, "_");
  const auto family = atom_text(e) == "module" ? Family{&any, &any} : family_of(e, false);
  if (!family) return c_.error(a.loc, "badly formed removed attribute " + term_text(e));
  if (!is_exported(*family)) return;
  c_.error(a.loc, family->arity->is(ExprKind::kInteger)
                      ? "removed function " + family->text() + " is still exported"
                      : "at least one function matching " + family->text() + " is still exported");
}

}  // namespace vmrun::compile

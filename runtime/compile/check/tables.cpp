// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/check/tables.hpp"

#include <functional>

#include "runtime/compile/check/attribute_terms.hpp"
#include "runtime/compile/check/meant.hpp"
#include "runtime/compile/syntax/ast_walk.hpp"
#include "runtime/compile/syntax/syntax_hint.hpp"

namespace vmrun::compile {

namespace {

class Collector {
 public:
  Collector(Session& session, ModuleTables& tables) : session_(session), t_(tables) {}

  void run(const ParsedModule& module, bool script);

 private:
  void error(Loc loc, std::string message) { session_.diagnostics.error(loc, std::move(message)); }
  void warning(Loc loc, std::string message) { session_.diagnostics.warning(loc, std::move(message)); }
  void attribute(const AttributeForm& a);
  void function(const FunctionForm& f);
  void record(const RecordForm& r, std::size_t order);
  void export_records(const AttributeForm& a);
  void import_records(const AttributeForm& a);
  void compile_option(const Expr& e);
  void export_list(const AttributeForm& a);
  void import_list(const AttributeForm& a);
  void overriding_imports();
  void bad(const AttributeForm& a);
  bool has_term(const AttributeForm& a);
  void documentation(const AttributeForm& a);

  static bool is_atom(const Expr& e) { return e.is(ExprKind::kAtom); }
  static std::string_view atom(const Expr& e) { return e.as<AtomExpr>().name; }
  static bool is_test(const FunctionName& f) {
    return f.arity == 0 && (f.name.ends_with("_test") || f.name.ends_with("_test_"));
  }
  void export_tests();
  void leave_out_tests();
  void export_function(const FunctionName& name) {
    if (t_.exported.insert(name).second) t_.exports.push_back({name, {}});
  }

  Session& session_;
  ModuleTables& t_;
  /// How test functions are treated: see eunit.hrl.
  enum class Tests : std::uint8_t { kPlain, kExported, kLeftOut } tests_ = Tests::kPlain;
  bool seen_function_ = false;
  bool seen_module_ = false;
  std::vector<NamedFunction> imported_;
  /// Where the text of the module, and of what comes next, is.
  std::optional<Loc> moduledoc_, doc_;
};

/// The syntax of attributes.
struct AttributeSyntax {
  std::string_view name, form;
};
constexpr AttributeSyntax kAttributes[] = {
    {"module", "-module(name)."},
    {"export", "-export([function/arity, ...])."},
    {"import", "-import(module, [function/arity, ...])."},
    {"compile", "-compile(Options)."},
    {"record", "-record(name, {field, ...})."},
    {"export_record", "-export_record([name, ...])."},
    {"import_record", "-import_record(module, [name, ...])."},
    {"export_type", "-export_type([type/arity, ...])."},
    {"nifs", "-nifs([function/arity, ...])."},
    {"on_load", "-on_load(function/0)."},
    {"behaviour", "-behaviour(module)."},
    {"behavior", "-behavior(module)."},
    {"optional_callbacks", "-optional_callbacks([function/arity, ...])."},
};

/// Whether the attribute has one value, which is a term; if not, that is reported.
bool Collector::has_term(const AttributeForm& a) {
  if (a.values.size() != 1) {
    bad(a);
    return false;
  }
  const bool good = is_term(*a.values[0], true);
  if (!good)
    error(first_loc(*a.values[0]), format_message("bad attribute '%.*s': not a constant", VIEW(a.name)));
  return good;
}

void Collector::bad(const AttributeForm& a) {
  std::string hint = meant_attribute(a.name);
  for (const AttributeSyntax& known : kAttributes)
    if (known.name == a.name) hint = ": expected " + std::string(known.form);
  error(a.loc, format_message("bad attribute '%.*s'%s", VIEW(a.name), hint.c_str()));
}

/// `-doc` and `-moduledoc`. Maps say more about what is documented; of the others there is one.
void Collector::documentation(const AttributeForm& a) {
  if (a.values.size() != 1) return bad(a);
  const Expr& value = *a.values[0];
  if (value.is(ExprKind::kMap)) return;
  const bool text = value.is(ExprKind::kString) || value.is(ExprKind::kBinary);
  const bool hidden = is_atom(value) && (atom(value) == "hidden" || atom(value) == "false");
  const auto* file = value.is(ExprKind::kTuple) ? &value.as<TupleExpr>() : nullptr;
  if (!text && !hidden &&
      !(file && file->elements.size() == 2 && is_atom(*file->elements[0]) &&
        atom(*file->elements[0]) == "file"))
    return error(value.loc, format_message("bad %.*s declaration", VIEW(a.name)));
  std::optional<Loc>& known = a.name == "doc" ? doc_ : moduledoc_;
  if (known)
    error(a.loc, format_message("redefining documentation attribute (%.*s) previously set at line %u",
                                VIEW(a.name), known->line));
  known = a.loc;
}

void Collector::run(const ParsedModule& module, bool script) {
  t_.name = module.name;
  for (std::size_t i = 0; i < module.forms.size(); ++i) {
    const Form& form = *module.forms[i];
    switch (form.kind) {
      case FormKind::kFunction: function(form.as<FunctionForm>()); break;
      case FormKind::kRecord: record(form.as<RecordForm>(), i); break;
      case FormKind::kAttribute: {
        const auto& a = form.as<AttributeForm>();
        attribute(a);
        if (a.name == "module" && a.loc.file == module.end.file) t_.module_loc = a.loc;
        break;
      }
      case FormKind::kType:
        t_.types.push_back(&form.as<TypeForm>());
        doc_ = {};
        break;
      case FormKind::kSpec: {
        const auto& spec = form.as<SpecForm>();
        (spec.attribute == "spec" ? t_.specs : t_.callbacks).push_back(&spec);
        if (spec.attribute == "callback") doc_ = {};
        break;
      }
      case FormKind::kEof: break;
    }
  }
  if (!seen_module_ && !script)
    error({module.end.file, 1, 1}, "no module definition: expected -module(Name).");
  if (script)
    for (std::uint32_t arity = 0; arity < 2; ++arity) {
      const FunctionName main{"main", arity};
      if (!t_.functions.count(main) || t_.exported.count(main)) continue;
      t_.implied_exports.push_back(main);
      export_function(main);
    }
  overriding_imports();
  if (tests_ == Tests::kExported) export_tests();
  if (tests_ == Tests::kLeftOut) leave_out_tests();
  if (t_.on_load && !t_.functions.count(t_.on_load->name))
    error(t_.on_load->loc, format_message("function %s/%u undefined%s",
                                          quote_atom(t_.on_load->name.name).c_str(), t_.on_load->name.arity,
                                          meant_function(t_, t_.on_load->name, Callable::kOwn).c_str()));
  for (const NamedFunction& f : t_.nifs)
    if (!t_.functions.count(f.name))
      error(f.loc, format_message("nif %s/%u undefined%s", quote_atom(f.name.name).c_str(), f.name.arity,
                                  meant_function(t_, f.name, Callable::kOwn).c_str()));
}

/// Does the work of the parse transform eunit_autoexport: tests are exported, and so is test/0,
/// which runs them.
void Collector::export_tests() {
  for (const FunctionForm* f : t_.function_order)
    if (is_test({f->name, f->arity})) export_function({f->name, f->arity});
  const FunctionName run{"test", 0};
  export_function(run);
  if (t_.functions.count(run)) return;
  NodeArena& arena = session_.arena;
  const Expr* name = arena.make<AtomExpr>(Loc{}, t_.name);
  const Expr* target = arena.make<RemoteExpr>(Loc{}, arena.make<AtomExpr>(Loc{}, "eunit"),
                                              arena.make<AtomExpr>(Loc{}, run.name));
  const Expr* call = arena.make<CallExpr>(Loc{}, target, arena.copy(&name, 1));
  const Clause* clause = arena.make<Clause>(Clause{{}, run.name, {}, {}, arena.copy(&call, 1)});
  function(*arena.make<FunctionForm>(
      FunctionForm{{FormKind::kFunction, {}}, run.name, run.arity, arena.copy(&clause, 1)}));
}

/// Does the work of the parse transform eunit_striptests.
void Collector::leave_out_tests() {
  std::erase_if(t_.function_order, [&](const FunctionForm* f) {
    const FunctionName name{f->name, f->arity};
    if (!is_test(name)) return false;
    t_.functions.erase(name);
    t_.exported.erase(name);
    return true;
  });
  std::erase_if(t_.exports, [](const NamedFunction& f) { return is_test(f.name); });
}

void Collector::function(const FunctionForm& f) {
  seen_function_ = true;
  doc_ = {};
  FunctionName name{f.name, f.arity};
  if (!t_.functions.emplace(name, FunctionInfo{&f}).second) {
    error(f.loc, format_message("function %s/%u already defined", quote_atom(f.name).c_str(), f.arity));
    return;
  }
  if (auto it = t_.imports.find(name); it != t_.imports.end())
    error(f.loc, format_message("defining imported function %s/%u", quote_atom(f.name).c_str(), f.arity));
  if (f.name == "module_info" && f.arity < 2)
    error(f.loc, format_message("defining pre-defined function module_info/%u", f.arity));
  t_.function_order.push_back(&f);
}

void Collector::record(const RecordForm& r, std::size_t order) {
  if (auto it = t_.record_imports.find(r.name); it != t_.record_imports.end()) {
    error(r.loc, format_message("record %s already imported from %s", quote_atom(r.name).c_str(),
                                quote_atom(it->second).c_str()));
    return;
  }
  if (!t_.records.emplace(r.name, RecordInfo{&r, order}).second) {
    error(r.loc, format_message("record %s already defined", quote_atom(r.name).c_str()));
    return;
  }
  std::unordered_set<std::string_view> seen;
  for (const RecordFieldDef& f : r.fields)
    if (!seen.insert(f.name).second)
      error(f.loc, format_message("field %s already defined in record %s", quote_atom(f.name).c_str(),
                                  quote_atom(r.name).c_str()));
}

void Collector::export_records(const AttributeForm& a) {
  const bool good = a.values.size() == 1 && each_element(*a.values[0], [&](const Expr& e) {
                      if (is_atom(e)) t_.exported_records.emplace(atom(e), e.loc);
                      return is_atom(e);
                    });
  if (!good) bad(a);
}

void Collector::import_records(const AttributeForm& a) {
  const bool good =
      a.values.size() == 2 && is_atom(*a.values[0]) && each_element(*a.values[1], [&](const Expr& e) {
        if (!is_atom(e)) return false;
        const std::string_view module = atom(*a.values[0]), name = atom(e);
        const std::string text = quote_atom(name);
        if (t_.records.count(name))
          error(a.loc, format_message("record %s is already defined locally", text.c_str()));
        else if (!t_.record_imports.emplace(name, module).second)
          error(a.loc, format_message("record %s already imported from %s", text.c_str(),
                                      quote_atom(t_.record_imports[name]).c_str()));
        return true;
      });
  if (!good) bad(a);
}

void Collector::export_list(const AttributeForm& a) {
  bool good =
      a.values.size() == 1 && each_element(*a.values[0], [&](const Expr& e) {
        const auto name = name_arity(e, false);
        if (!name) return false;
        if (!t_.exported.insert(*name).second)
          warning(e.loc, format_message("function %s/%u already exported", quote_atom(name->name).c_str(),
                                        name->arity));
        else
          t_.exports.push_back({*name, e.is(ExprKind::kBinaryOp) ? e.as<BinaryOpExpr>().left->loc : e.loc});
        return true;
      });
  if (!good) bad(a);
}

void Collector::import_list(const AttributeForm& a) {
  if (a.values.size() == 1 && is_atom(*a.values[0])) return;  // -import(Module). has no effect
  bool good = a.values.size() == 2 && is_atom(*a.values[0]) && each_element(*a.values[1], [&](const Expr& e) {
                const auto name = name_arity(e, false);
                if (!name) return false;
                std::string_view module = atom(*a.values[0]);
                auto [it, fresh] = t_.imports.emplace(*name, ImportInfo{module, a.loc});
                if (!fresh && it->second.module != module)
                  error(a.loc, format_message("function %s/%u already imported from %s",
                                              quote_atom(name->name).c_str(), name->arity,
                                              quote_atom(it->second.module).c_str()));
                imported_.push_back({*name, a.loc});
                return true;
              });
  if (!good) bad(a);
}

/// Says which imports have the names of built-in functions, unless -compile says so anywhere.
void Collector::overriding_imports() {
  if (t_.has_option("nowarn_bif_clash")) return;
  for (const auto& [name, loc] : imported_)
    if (t_.auto_imports(name))
      warning(loc, format_message("import directive overrides auto-imported BIF %s/%u - use "
                                  "\"-compile({no_auto_import,[%s/%u]}).\" to resolve name clash",
                                  quote_atom(name.name).c_str(), name.arity, quote_atom(name.name).c_str(),
                                  name.arity));
}

void Collector::compile_option(const Expr& e) {
  if (is_atom(e)) {
    const std::string_view option = atom(e);
    t_.options.insert(option);
    if (option == "export_all" && !t_.export_all) {
      t_.export_all = true;
      t_.export_all_loc = e.loc;
    }
    if (option == "no_auto_import") t_.no_auto_import_all = true;
    return;
  }
  if (!e.is(ExprKind::kTuple) || e.as<TupleExpr>().elements.empty() ||
      !is_atom(*e.as<TupleExpr>().elements[0]))
    return;
  ExprList parts = e.as<TupleExpr>().elements;
  const std::string_view option = atom(*parts[0]);
  if (option == "parse_transform" && parts.size() == 2 && is_atom(*parts[1])) {
    const std::string_view transform = atom(*parts[1]);
    if (transform == "ms_transform") return void(t_.match_specs_from_funs = true);
    if (transform == "eunit_autoexport") return void(tests_ = Tests::kExported);
    if (transform == "eunit_striptests") return void(tests_ = Tests::kLeftOut);
    t_.transforms.push_back(transform);
    return error(e.loc, format_message("parse transform %.*s: takes the compiler of an installed Erlang/OTP",
                                       VIEW(transform)));
  }
  if (option == "parse_transform" || option == "core_transform")
    error(e.loc, format_message("%.*s is not supported", VIEW(option)));
  if (parts.size() != 2) return;
  auto into = [&](std::unordered_set<FunctionName, FunctionNameHash>& set) {
    auto one = [&](const Expr& x) {
      if (auto name = name_arity(x, true)) set.insert(*name);
      return true;
    };
    if (!each_element(*parts[1], one)) one(*parts[1]);
  };
  if (option == "no_auto_import") into(t_.no_auto_import);
  if (option == "nowarn_unused_function") into(t_.nowarn_unused);
}

void Collector::attribute(const AttributeForm& a) {
  const std::string_view n = a.name;
  const bool anywhere = n == "dialyzer" || n == "doc" || n == "moduledoc" || n == "nifs" || n == "compile" ||
                        n == "export_record" || n == "import_record";
  if (seen_function_ && !anywhere)
    error(a.loc, format_message("attribute %.*s after function definitions", VIEW(n)));
  if (n == "module") {
    if (seen_module_) error(a.loc, "redefining module");
    seen_module_ = true;
    if (a.values.size() != 1 || !is_atom(*a.values[0])) bad(a);
    return;
  }
  if (n == "export") return export_list(a);
  if (n == "import") return import_list(a);
  if (n == "export_record") return export_records(a);
  if (n == "import_record") return import_records(a);
  if (n == "compile") {
    if (!has_term(a)) return;
    auto one = [&](const Expr& e) {
      compile_option(e);
      return true;
    };
    if (!each_element(*a.values[0], one)) one(*a.values[0]);
    return;
  }
  if (n == "nifs") {
    bool good = a.values.size() == 1 && each_element(*a.values[0], [&](const Expr& e) {
                  const auto name = name_arity(e, false);
                  if (name) t_.nifs.push_back({*name, a.loc});
                  return name.has_value();
                });
    return good ? void() : bad(a);
  }
  if (n == "export_type") {
    bool good = a.values.size() == 1 && each_element(*a.values[0], [&](const Expr& e) {
                  const auto name = name_arity(e, false);
                  if (name) t_.exported_types.push_back({*name, a.loc});
                  return name.has_value();
                });
    return good ? void() : bad(a);
  }
  if (n == "optional_callbacks" && a.values.size() == 1)
    each_element(*a.values[0], [&](const Expr& e) {
      if (auto name = name_arity(e, true)) t_.optional_callbacks.insert(*name);
      return true;
    });
  if (n == "on_load") {
    const auto name = a.values.size() == 1 ? name_arity(*a.values[0], false) : std::nullopt;
    if (!name || name->arity != 0) return error(a.loc, "bad on_load attribute: expected -on_load(name/0).");
    if (t_.on_load) return error(a.loc, "more than one on_load attribute");
    t_.on_load = NamedFunction{*name, a.loc};
    return;
  }
  if (n == "behaviour" || n == "behavior") {
    if (a.values.size() != 1 || !is_atom(*a.values[0])) return bad(a);
    t_.behaviours.push_back({atom(*a.values[0]), a.loc});
  }
  if (n == "doc" || n == "moduledoc") return documentation(a);
  if (!has_term(a) || n == "dialyzer") return;
  if (const std::string hint = meant_attribute(n); !hint.empty())
    warning(a.loc, format_message("attribute '%.*s' has no meaning%s", VIEW(n), hint.c_str()));
  t_.attributes.push_back(&a);
}

}  // namespace

ModuleTables collect_tables(Session& session, const ParsedModule& module, bool script) {
  ModuleTables tables;
  Collector(session, tables).run(module, script);
  return tables;
}

}  // namespace vmrun::compile

// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/core/to_core.hpp"

#include <algorithm>

#include "runtime/compile/core/to_core_binary.hpp"
#include "runtime/compile/core/to_core_comprehension.hpp"
#include "runtime/compile/core/to_core_constant.hpp"
#include "runtime/compile/core/to_core_control.hpp"
#include "runtime/compile/core/to_core_expr.hpp"
#include "runtime/compile/core/to_core_guard.hpp"
#include "runtime/compile/core/to_core_pattern.hpp"
#include "runtime/compile/core/to_core_record.hpp"
#include "runtime/compile/syntax/ast_walk.hpp"
#include "vm/term/big.hpp"

namespace vmrun::compile {

namespace {

/// Two independent 64-bit FNV-1a sums: the default `vsn` only has to differ between versions of a
/// text.
std::uint64_t text_sum(std::string_view text, std::uint64_t seed) {
  std::uint64_t h = 1469598103934665603ull ^ seed;
  for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return h;
}

/// Lowers the module as a whole; owns the classes that lower its parts.
class ModuleToCore {
 public:
  ModuleToCore(Session& session, ModuleTables& tables, vmrun::Heap& heap)
      : c_{.session = session,
           .tables = tables,
           .nodes = {session, heap},
           .exprs = exprs_,
           .control = control_,
           .guards = guards_,
           .patterns = patterns_,
           .binaries = binaries_,
           .records = records_,
           .comprehensions = comprehensions_,
           .constants = constants_} {}
  core::Module run(const LowerOptions& options);

 private:
  core::FunDef* function(const FunctionForm& f);
  core::FunDef* behaviour_info();
  std::vector<core::Attribute> attributes();
  std::vector<core::RecordDef> records();

  CoreContext c_;
  Nodes& nodes_ = c_.nodes;
  Scope& scope_ = c_.scope;
  ExprToCore exprs_{c_};
  ControlToCore control_{c_};
  GuardToCore guards_{c_};
  PatternToCore patterns_{c_};
  BinaryToCore binaries_{c_};
  RecordToCore records_{c_};
  ComprehensionToCore comprehensions_{c_};
  ConstantToCore constants_{c_};
};

core::FunDef* ModuleToCore::function(const FunctionForm& f) {
  scope_.clear();
  c_.uses = {};
  c_.names.clear();
  for (const Clause* c : f.clauses)
    for_each_child(*c, [&](const Expr& e) {
      c_.uses.index(e);
      c_.names.index(e);
    });
  core::FunDef* def =
      nodes_.make<core::FunDef>(core::FunDef{nodes_.atom(f.name), f.arity, {}, nullptr, f.loc});
  def->body = control_.function_body(f.loc, f.clauses, def->params);
  return def;
}

/// Makes `behaviour_info/1`, which returns the callbacks of a behaviour.
core::FunDef* ModuleToCore::behaviour_info() {
  auto list = [&](bool optional) {
    Term t = Term::nil();
    for (std::size_t i = c_.tables.callbacks.size(); i-- > 0;) {
      const SpecForm& c = *c_.tables.callbacks[i];
      if (optional && !c_.tables.optional_callbacks.count({c.name, c.arity})) continue;
      CExpr* pair =
          nodes_.tuple({}, {nodes_.atom_literal({}, c.name), nodes_.literal({}, Term::small(c.arity))});
      Term* hp = nodes_.heap().alloc(2);
      t = make_cons(hp, literal_of(pair), t);
    }
    return nodes_.literal({}, t);
  };
  Var* what = nodes_.fresh();
  auto row = [&](std::string_view name, CExpr* result) {
    core::Pat* p = nodes_.literal_pattern(nodes_.atom(name));
    return nodes_.make<core::Clause>(core::Clause{{}, nodes_.copy(&p, 1), nullptr, result});
  };
  std::vector<core::Clause*> clauses{row("callbacks", list(false)), row("optional_callbacks", list(true))};
  std::vector<CExpr*> subject{nodes_.ref(what)};
  const Loc loc = c_.tables.callbacks[0]->loc;
  return nodes_.make<core::FunDef>(core::FunDef{
      nodes_.atom("behaviour_info"), 1, nodes_.copy(&what, 1),
      nodes_.make<core::Case>(loc, nodes_.keep(subject), nodes_.keep(clauses), core::Fail::kFunctionClause),
      loc});
}

std::vector<core::Attribute> ModuleToCore::attributes() {
  std::vector<core::Attribute> attributes;
  bool has_version = false;
  for (const AttributeForm* a : c_.tables.attributes) {
    const Term value = constants_.constant(*a->values[0], true);
    if (!value.is_value()) {
      c_.session.diagnostics.error(first_loc(*a->values[0]),
                                   format_message("bad attribute '%.*s': not a constant", VIEW(a->name)));
      continue;
    }
    if (a->name == "vsn") has_version = true;
    const bool wrap = !value.is_nil() && !value.is_list();
    Term* hp = nodes_.heap().alloc(2);
    attributes.push_back({nodes_.atom(a->name), wrap ? make_cons(hp, value, Term::nil()) : value});
  }
  if (!has_version) {
    const std::string_view text = c_.session.sources.text(0);
    const Term high = make_unsigned(nodes_.heap(), text_sum(text, 1)),
               low = make_unsigned(nodes_.heap(), text_sum(text, 2));
    const Term version =
        big_bitwise(nodes_.heap(), BitOp::kXor, big_shift_left(nodes_.heap(), high, 64), low);
    Term* hp = nodes_.heap().alloc(2);
    attributes.insert(attributes.begin(), {nodes_.atom("vsn"), make_cons(hp, version, Term::nil())});
  }
  return attributes;
}

std::vector<core::RecordDef> ModuleToCore::records() {
  std::vector<const RecordInfo*> native;
  for (const auto& [name, info] : c_.tables.records)
    if (info.form->native) native.push_back(&info);
  std::ranges::sort(native, {}, &RecordInfo::order);
  std::vector<core::RecordDef> records;
  for (const RecordInfo* info : native) {
    const RecordForm& r = *info->form;
    std::vector<core::RecordDef::Field> fields;
    for (const RecordFieldDef& f : r.fields) {
      const Term value = f.initial ? constants_.constant(*f.initial, false) : kNonValue;
      if (f.initial && !value.is_value())
        c_.session.diagnostics.error(f.loc,
                                     format_message("illegal default value for field %s in native record %s",
                                                    quote_atom(f.name).c_str(), quote_atom(r.name).c_str()));
      fields.push_back({nodes_.atom(f.name), value});
    }
    records.push_back(
        {nodes_.atom(r.name), c_.tables.exported_records.count(r.name) != 0, nodes_.keep(fields)});
  }
  return records;
}

core::Module ModuleToCore::run(const LowerOptions& options) {
  core::Module m;
  m.name = nodes_.atom(c_.tables.name);
  std::vector<core::FunDef*> functions;
  std::vector<core::FunDef*> nifs;
  std::vector<core::Export> exports;
  for (const FunctionForm* f : c_.tables.function_order) {
    functions.push_back(function(*f));
    if (c_.tables.on_load && c_.tables.on_load->name == FunctionName{f->name, f->arity})
      m.on_load = functions.back();
    const FunctionName name{f->name, f->arity};
    if (std::any_of(c_.tables.nifs.begin(), c_.tables.nifs.end(),
                    [&](const NamedFunction& n) { return n.name == name; }))
      nifs.push_back(functions.back());
    if (c_.tables.is_exported({f->name, f->arity})) exports.push_back({nodes_.atom(f->name), f->arity});
  }
  if (!c_.tables.callbacks.empty() && !c_.tables.functions.count({"behaviour_info", 1})) {
    functions.push_back(behaviour_info());
    exports.push_back({nodes_.atom("behaviour_info"), 1});
  }
  std::vector<std::string_view> files;
  for (std::uint32_t i = 0; i < c_.session.sources.count(); ++i) files.push_back(c_.session.sources.name(i));
  m.nifs = nodes_.keep(nifs);
  m.exports = nodes_.keep(exports);
  m.attributes = nodes_.keep(attributes());
  m.records = nodes_.keep(records());
  m.functions = nodes_.keep(functions);
  m.files = nodes_.keep(files);
  m.source = options.source;
  return m;
}

}  // namespace

core::Module to_core(Session& session, ModuleTables& tables, vmrun::Heap& literals,
                     const LowerOptions& options) {
  return ModuleToCore(session, tables, literals).run(options);
}

}  // namespace vmrun::compile

// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/core/to_core_record.hpp"

#include "runtime/compile/core/to_core_expr.hpp"

namespace vmrun::compile {

namespace {

// An updated record of up to this many fields is written out; a larger one is copied as a whole for
// each new value.
constexpr std::size_t kMaxRebuilt = 10;

}  // namespace

const RecordInfo* RecordToCore::record(std::string_view name) {
  auto it = c_.tables.records.find(name);
  if (it != c_.tables.records.end()) return &it->second;
  static const RecordForm kNoForm{};
  static const RecordInfo kNone{&kNoForm, 0};
  c_.session.diagnostics.error({}, format_message("record %s undefined", quote_atom(name).c_str()));
  return &kNone;
}

/// Fields are evaluated in the order of the definition.
core::Expr* RecordToCore::record_new(const RecordExpr& e, Block& block) {
  static const AtomExpr kUndefined({}, "undefined");
  const RecordInfo* r = record(e.name);
  std::vector<const Expr*> items;
  for (const RecordFieldDef& field : r->form->fields) {
    const Expr* given = field.initial ? field.initial : &kUndefined;
    for (const RecordFieldInit& f : e.fields) {
      if (f.name == field.name) {
        given = f.value;
        break;
      }
      if (f.name == "_") given = f.value;
    }
    items.push_back(given);
  }
  auto parts = c_.exprs.operands(items, block);
  parts.insert(parts.begin(), nodes_.atom_literal(e.loc, e.name));
  return nodes_.tuple(e.loc, parts);
}

core::Expr* RecordToCore::record_update(const RecordExpr& e, Block& block) {
  const RecordInfo* r = record(e.name);
  const std::size_t n = r->form->fields.size();
  // The new values are evaluated first, then the record.
  std::vector<const Expr*> items;
  for (const RecordFieldInit& f : e.fields) items.push_back(f.value);
  items.push_back(e.base);
  auto parts = c_.exprs.operands(items, block);
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) parts[i] = nodes_.named(parts[i], block);
  CExpr* subject = parts.back();
  auto given = [&](std::size_t field) -> CExpr* {
    for (std::size_t i = e.fields.size(); i-- > 0;)
      if (e.fields[i].name == r->form->fields[field].name) return parts[i];
    return nullptr;
  };
  const bool rebuild = n <= kMaxRebuilt || e.fields.size() * 2 > n;
  if (!rebuild) subject = nodes_.named(subject, block);
  std::vector<core::Pat*> elements{nodes_.literal_pattern(nodes_.atom(e.name))};
  std::vector<CExpr*> result{nodes_.atom_literal(e.loc, e.name)};
  for (std::size_t i = 0; i < n; ++i) {
    CExpr* v = given(i);
    if (!v && rebuild) {
      Var* kept = nodes_.fresh(r->form->fields[i].name);
      elements.push_back(nodes_.make<core::PVar>(kept));
      result.push_back(nodes_.ref(kept));
    } else {
      elements.push_back(nodes_.wild());
      if (rebuild) result.push_back(v);
    }
  }
  CExpr* updated;
  if (rebuild) {
    updated = nodes_.tuple(e.loc, result);
  } else {
    updated = is_literal(subject) ? nodes_.literal({}, literal_of(subject))
                                  : nodes_.ref(subject->as<core::VarRef>().var);
    for (std::size_t i = 0; i < n; ++i)
      if (CExpr* v = given(i))
        updated = nodes_.erlang(e.loc, "setelement",
                                {nodes_.integer_literal({}, static_cast<std::int64_t>(i) + 2), updated, v});
  }
  core::Pat* shape = nodes_.make<core::PTuple>(nodes_.keep(elements));
  core::Clause* only =
      nodes_.make<core::Clause>(core::Clause{e.loc, nodes_.copy(&shape, 1), nullptr, updated});
  return nodes_.make<core::Case>(e.loc, nodes_.copy(&subject, 1), nodes_.copy(&only, 1),
                                 core::Fail::kBadrecord);
}

core::Expr* RecordToCore::record_field(const RecordFieldExpr& e, Block& block) {
  const RecordInfo* r = record(e.name);
  const int index = r->field_index(e.field);
  const std::size_t n = r->form->fields.size();
  CExpr* subject = c_.exprs.value(*e.base, block);
  if (c_.guard_checks) {
    // `subject` is a tree of its own here, so it is lowered again for the check.
    Block again;
    CExpr* checked = c_.exprs.value(*e.base, again);
    c_.guard_checks->push_back(nodes_.erlang(e.loc, "is_record",
                                             {checked, nodes_.atom_literal({}, e.name),
                                              nodes_.integer_literal({}, static_cast<std::int64_t>(n) + 1)}));
    return nodes_.erlang(e.loc, "element", {nodes_.integer_literal({}, index + 2), subject});
  }
  Var* found = nodes_.fresh(e.field);
  std::vector<core::Pat*> elements{nodes_.literal_pattern(nodes_.atom(e.name))};
  for (std::size_t i = 0; i < n; ++i)
    elements.push_back(static_cast<int>(i) == index ? static_cast<core::Pat*>(nodes_.make<core::PVar>(found))
                                                    : nodes_.wild());
  core::Pat* shape = nodes_.make<core::PTuple>(nodes_.keep(elements));
  core::Clause* only =
      nodes_.make<core::Clause>(core::Clause{e.loc, nodes_.copy(&shape, 1), nullptr, nodes_.ref(found)});
  return nodes_.make<core::Case>(e.loc, nodes_.copy(&subject, 1), nodes_.copy(&only, 1),
                                 core::Fail::kBadrecord);
}

/// record_info(fields, r) and record_info(size, r).
core::Expr* RecordToCore::record_info(const CallExpr& e) {
  const RecordInfo* r = record(e.args[1]->as<AtomExpr>().name);
  if (e.args[0]->as<AtomExpr>().name == "size")
    return nodes_.integer_literal(e.loc, static_cast<std::int64_t>(r->form->fields.size()) + 1);
  CExpr* list = nodes_.literal(e.loc, Term::nil());
  for (std::size_t i = r->form->fields.size(); i-- > 0;)
    list = nodes_.cons(e.loc, nodes_.atom_literal({}, r->form->fields[i].name), list);
  return list;
}

}  // namespace vmrun::compile

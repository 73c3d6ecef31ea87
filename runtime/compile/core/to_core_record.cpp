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

// ---- Native records -----------------------------------------------------------------------------

/// The name that instructions take: of a record of this module an atom.
Term RecordToCore::native_id(const RecordMeaning& meaning) {
  if (meaning.kind == RecordMeaning::kAny) return nodes_.atom("_");
  if (meaning.kind == RecordMeaning::kLocal) return nodes_.atom(meaning.name);
  return literal_of(
      nodes_.tuple({}, {nodes_.atom_literal({}, meaning.module), nodes_.atom_literal({}, meaning.name)}));
}

/// A pattern without fields matches also where the fields are not to be seen.
core::Pat* RecordToCore::native_pattern(const RecordMeaning& meaning,
                                        std::span<const core::PRecordPair> pairs) {
  Term id, scope;
  if (meaning.kind != RecordMeaning::kAny)
    id = literal_of(
        nodes_.tuple({}, {nodes_.atom_literal({}, meaning.module), nodes_.atom_literal({}, meaning.name)}));
  if (!pairs.empty() && meaning.kind == RecordMeaning::kAny) scope = nodes_.atom("auto_local");
  if (!pairs.empty() && meaning.kind == RecordMeaning::kExternal) scope = nodes_.atom("external");
  return nodes_.make<core::PRecord>(id, scope, pairs);
}

core::Expr* RecordToCore::native_test(Loc loc, const RecordMeaning& meaning, CExpr* subject) {
  return nodes_.erlang(
      loc, "is_record",
      {subject, nodes_.atom_literal({}, meaning.module), nodes_.atom_literal({}, meaning.name)});
}

core::Expr* RecordToCore::native_new(const RecordExpr& e, const RecordMeaning& meaning, Block& block) {
  std::vector<const Expr*> items;
  for (const RecordFieldInit& f : e.fields) items.push_back(f.value);
  const auto values = c_.exprs.operands(items, block);
  std::vector<core::RecordPair> pairs;
  for (std::size_t i = 0; i < values.size(); ++i) pairs.push_back({nodes_.atom(e.fields[i].name), values[i]});
  return nodes_.make<core::Record>(e.loc, native_id(meaning), nullptr, nodes_.keep(pairs));
}

core::Expr* RecordToCore::native_update(const RecordExpr& e, const RecordMeaning& meaning, Block& block) {
  std::vector<const Expr*> items{e.base};
  for (const RecordFieldInit& f : e.fields) items.push_back(f.value);
  auto parts = c_.exprs.operands(items, block);
  for (CExpr*& part : parts) part = nodes_.named(part, block);
  const auto again = [&](CExpr* x) {
    return is_literal(x) ? nodes_.literal({}, literal_of(x)) : nodes_.ref(x->as<core::VarRef>().var);
  };
  std::vector<core::RecordPair> pairs;
  for (std::size_t i = 1; i < parts.size(); ++i)
    pairs.push_back({nodes_.atom(e.fields[i - 1].name), parts[i]});
  core::Pat* shape = native_pattern(meaning, {});
  if (meaning.kind != RecordMeaning::kLocal)
    shape = nodes_.make<core::PRecord>(
        shape->as<core::PRecord>().id,
        nodes_.atom(meaning.kind == RecordMeaning::kAny ? "auto_local" : "external"),
        std::span<const core::PRecordPair>());
  CExpr* updated = again(parts[0]);
  if (!pairs.empty())
    updated = nodes_.make<core::Record>(e.loc, native_id(meaning), updated, nodes_.keep(pairs));
  core::Clause* only =
      nodes_.make<core::Clause>(core::Clause{e.loc, nodes_.copy(&shape, 1), nullptr, updated});
  return nodes_.make<core::Case>(e.loc, nodes_.copy(&parts[0], 1), nodes_.copy(&only, 1),
                                 core::Fail::kBadrecord);
}

// ---- Tuples -------------------------------------------------------------------------------------

/// Fields are evaluated in the order of the definition.
core::Expr* RecordToCore::record_new(const RecordExpr& e, Block& block) {
  if (const RecordMeaning meaning = c_.tables.meaning(e.id); meaning.is_native())
    return native_new(e, meaning, block);
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
  if (const RecordMeaning meaning = c_.tables.meaning(e.id); meaning.is_native())
    return native_update(e, meaning, block);
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
  if (const RecordMeaning meaning = c_.tables.meaning(e.id); meaning.is_native())
    return nodes_.erlang(e.loc, "get_record_field",
                         {c_.exprs.value(*e.base, block), nodes_.literal({}, native_id(meaning)),
                          nodes_.atom_literal({}, e.field)});
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

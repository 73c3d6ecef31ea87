// Lowering of records: tuples with the record's name in front.

#include "runtime/compile/core/to_core_state.hpp"

namespace vmrun::compile {

namespace {

// Up to so many fields an updated record is written out; larger ones are copied as a whole, once
// per new value.
constexpr size_t kMaxRebuilt = 10;

}  // namespace

const RecordInfo* Lowering::record(std::string_view name) {
  auto it = tables_.records.find(name);
  if (it != tables_.records.end()) return &it->second;
  static const RecordForm kNoForm{};
  static const RecordInfo kNone{&kNoForm, 0};
  session_.diagnostics.error({}, format_message("record %s undefined", quote_atom(name).c_str()));
  return &kNone;
}

/// Fields are evaluated in the order of the definition.
core::Expr* Lowering::record_new(const RecordExpr& e, Block& block) {
  static const AtomExpr kUndefined({}, "undefined");
  const RecordInfo* r = record(e.name);
  std::vector<const Expr*> items;
  for (const RecordFieldDef& field : r->form->fields) {
    const Expr* given = field.initial != nullptr ? field.initial : &kUndefined;
    for (const RecordFieldInit& f : e.fields) {
      if (f.name == field.name) {
        given = f.value;
        break;
      }
      if (f.name == "_") given = f.value;
    }
    items.push_back(given);
  }
  auto parts = operands(items, block);
  parts.insert(parts.begin(), atom_literal(e.loc, e.name));
  return tuple(e.loc, parts);
}

core::Expr* Lowering::record_update(const RecordExpr& e, Block& block) {
  const RecordInfo* r = record(e.name);
  size_t n = r->form->fields.size();
  // The new values come first, then the record.
  std::vector<const Expr*> items;
  for (const RecordFieldInit& f : e.fields) items.push_back(f.value);
  items.push_back(e.base);
  auto parts = operands(items, block);
  for (size_t i = 0; i + 1 < parts.size(); i++) parts[i] = named(parts[i], block);
  CExpr* subject = parts.back();
  auto given = [&](size_t field) -> CExpr* {
    for (size_t i = e.fields.size(); i-- > 0;)
      if (e.fields[i].name == r->form->fields[field].name) return parts[i];
    return nullptr;
  };
  bool rebuild = n <= kMaxRebuilt || e.fields.size() * 2 > n;
  if (!rebuild) subject = named(subject, block);
  std::vector<core::Pat*> elements{literal_pattern(atom(e.name))};
  std::vector<CExpr*> result{atom_literal(e.loc, e.name)};
  for (size_t i = 0; i < n; i++) {
    CExpr* v = given(i);
    if (v == nullptr && rebuild) {
      Var* kept = fresh(r->form->fields[i].name);
      elements.push_back(make<core::PVar>(kept));
      result.push_back(ref(kept));
    } else {
      elements.push_back(wild());
      if (rebuild) result.push_back(v);
    }
  }
  CExpr* updated;
  if (rebuild) {
    updated = tuple(e.loc, result);
  } else {
    updated = is_literal(subject) ? literal({}, literal_of(subject)) : ref(subject->as<core::VarRef>().var);
    for (size_t i = 0; i < n; i++)
      if (CExpr* v = given(i))
        updated = erlang(e.loc, "setelement", {integer_literal({}, static_cast<int64_t>(i) + 2), updated, v});
  }
  core::Pat* shape = make<core::PTuple>(keep(elements));
  core::Clause* only = make<core::Clause>(core::Clause{e.loc, arena_.copy(&shape, 1), nullptr, updated});
  return make<core::Case>(e.loc, arena_.copy(&subject, 1), arena_.copy(&only, 1), core::Fail::kBadrecord);
}

core::Expr* Lowering::record_field(const RecordFieldExpr& e, Block& block) {
  const RecordInfo* r = record(e.name);
  int index = r->field_index(e.field);
  size_t n = r->form->fields.size();
  CExpr* subject = value(*e.base, block);
  if (guard_checks_ != nullptr) {
    // `subject` is a tree of its own here, so it is lowered again for the check.
    Block again;
    CExpr* checked = value(*e.base, again);
    guard_checks_->push_back(
        erlang(e.loc, "is_record",
               {checked, atom_literal({}, e.name), integer_literal({}, static_cast<int64_t>(n) + 1)}));
    return erlang(e.loc, "element", {integer_literal({}, index + 2), subject});
  }
  Var* found = fresh(e.field);
  std::vector<core::Pat*> elements{literal_pattern(atom(e.name))};
  for (size_t i = 0; i < n; i++)
    elements.push_back(static_cast<int>(i) == index ? static_cast<core::Pat*>(make<core::PVar>(found))
                                                    : wild());
  core::Pat* shape = make<core::PTuple>(keep(elements));
  core::Clause* only = make<core::Clause>(core::Clause{e.loc, arena_.copy(&shape, 1), nullptr, ref(found)});
  return make<core::Case>(e.loc, arena_.copy(&subject, 1), arena_.copy(&only, 1), core::Fail::kBadrecord);
}

/// record_info(fields, r) and record_info(size, r).
core::Expr* Lowering::record_info(const CallExpr& e) {
  const RecordInfo* r = record(e.args[1]->as<AtomExpr>().name);
  if (e.args[0]->as<AtomExpr>().name == "size")
    return integer_literal(e.loc, static_cast<int64_t>(r->form->fields.size()) + 1);
  CExpr* list = literal(e.loc, Term::nil());
  for (size_t i = r->form->fields.size(); i-- > 0;)
    list = cons(e.loc, atom_literal({}, r->form->fields[i].name), list);
  return list;
}

}  // namespace vmrun::compile

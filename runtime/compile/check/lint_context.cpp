// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/check/lint_context.hpp"

#include <unordered_set>

#include "runtime/compile/check/meant.hpp"

namespace vmrun::compile {

const RecordInfo* LintContext::record(std::string_view name, Loc loc) {
  auto it = tables.records.find(name);
  if (it == tables.records.end() || it->second.order > form_order) {
    const std::string hint = it == tables.records.end()
                                 ? meant_record(tables, name)
                                 : " before line " + std::to_string(it->second.form->loc.line);
    error(loc, format_message("record %s undefined%s", quote_atom(name).c_str(), hint.c_str()));
    return nullptr;
  }
  it->second.used = true;
  return &it->second;
}

void LintContext::record_field(const RecordInfo& r, std::string_view field, Loc loc) {
  if (r.field_index(field) < 0)
    error(loc, format_message("field %s undefined in record %s%s", quote_atom(field).c_str(),
                              quote_atom(r.form->name).c_str(), meant_field(*r.form, field).c_str()));
}

void LintContext::native_field(const RecordInfo& r, std::string_view field, Loc loc) {
  if (r.field_index(field) < 0 && enabled("nowarn_undefined_field"))
    warning(loc, format_message("field %s undefined in record %s", quote_atom(field).c_str(),
                                quote_atom(r.form->name).c_str()));
}

void LintContext::native_fields(const RecordExpr& e, const RecordInfo* r, bool creates) {
  std::unordered_set<std::string_view> seen;
  bool good = true;
  const auto wrong = [&](Loc loc, std::string message) {
    error(loc, std::move(message));
    good = false;
  };
  for (const RecordFieldInit& f : e.fields) {
    if (f.name == "_")
      wrong(f.loc, "multi-field initialization (assigning to _) is only supported for tuple records");
    else if (!seen.insert(f.name).second)
      wrong(f.loc, format_message("field %s already defined in record %s", quote_atom(f.name).c_str(),
                                  quote_atom(e.name).c_str()));
    else if (r && !creates) native_field(*r, f.name, f.loc);
    else if (r && r->field_index(f.name) < 0) record_field(*r, f.name, f.loc), good = false;
  }
  if (!r || !creates || !good) return;
  for (const RecordFieldDef& f : r->form->fields)
    if (!f.initial && !seen.count(f.name))
      error(e.loc, format_message("field %s is not initialized in native record %s",
                                  quote_atom(f.name).c_str(), quote_atom(e.name).c_str()));
}

void LintContext::record_expr(const RecordExpr& e, bool creates) {
  const RecordMeaning meaning = tables.meaning(e.id);
  if (meaning.kind == RecordMeaning::kAny && creates) return error(e.loc, "native record '_' undefined");
  if (meaning.kind == RecordMeaning::kAny || meaning.kind == RecordMeaning::kExternal)
    return native_fields(e, nullptr, creates);
  const RecordInfo* info = record(e.name, e.loc);
  if (info && meaning.is_native()) native_fields(e, info, creates);
  else if (info) record_fields(e, *info);
}

void LintContext::record_field_expr(const RecordFieldExpr& e) {
  const RecordMeaning meaning = tables.meaning(e.id);
  if (meaning.kind == RecordMeaning::kAny || meaning.kind == RecordMeaning::kExternal) return;
  const RecordInfo* info = record(e.name, e.loc);
  if (info && meaning.is_native()) native_field(*info, e.field, e.field_loc);
  else if (info) record_field(*info, e.field, e.field_loc);
}

void LintContext::record_test(std::string_view name, Loc loc) {
  if (tables.meaning(name).kind != RecordMeaning::kExternal) record(name, loc);
}

void LintContext::record_index(const RecordIndexExpr& e) {
  if (tables.meaning(e.name).is_native())
    return error(e.loc, format_message("syntax #%s.%s is only supported for tuple records",
                                       quote_atom(e.name).c_str(), quote_atom(e.field).c_str()));
  if (const RecordInfo* info = record(e.name, e.loc)) record_field(*info, e.field, e.field_loc);
}

void LintContext::record_fields(const RecordExpr& e, const RecordInfo& r) {
  std::unordered_set<std::string_view> seen;
  for (const RecordFieldInit& f : e.fields) {
    if (!seen.insert(f.name).second)
      error(f.loc, format_message("field %s already defined in record %s", quote_atom(f.name).c_str(),
                                  quote_atom(e.name).c_str()));
    if (f.name != "_") record_field(r, f.name, f.loc);
  }
}

}  // namespace vmrun::compile

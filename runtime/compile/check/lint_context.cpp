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

void LintContext::record_index(const RecordIndexExpr& e) {
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

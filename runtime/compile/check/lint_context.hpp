// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "runtime/compile/check/tables.hpp"

/// What all parts of lint share: the module, its tables and the diagnostics, and the checks of
/// records, which patterns, guards and expressions have in common. One compilation, one thread.
namespace vmrun::compile {

struct LintContext {
  Session& session;
  const ParsedModule& module;
  ModuleTables& tables;
  std::size_t form_order = 0;  // of the current form; records of later forms are not known yet

  void error(Loc loc, std::string message) { session.diagnostics.error(loc, std::move(message)); }
  void warning(Loc loc, std::string message) { session.diagnostics.warning(loc, std::move(message)); }
  bool enabled(std::string_view nowarn) const { return !tables.has_option(nowarn); }
  bool in_main_file(Loc loc) const { return loc.file == 0; }
  /// Whether something of this name may be used in a place that could not be read.
  bool may_be_used(std::string_view name) const {
    return module.unread.names.count(name) != 0 || tables.excused.count(name) != 0;
  }
  /// Whether a form that could not be read may define something of this name.
  bool may_be_unread(std::string_view name) const {
    return module.unread.text || module.unread.names.count(name) != 0;
  }

  /// Returns the record and marks it as used; nullptr after an error.
  const RecordInfo* record(std::string_view name, Loc loc);
  void record_field(const RecordInfo& r, std::string_view field, Loc loc);
  void record_fields(const RecordExpr& e, const RecordInfo& r);
  /// Checks the name and the fields of `#name{…}`, be it new, an update or a pattern.
  void record_expr(const RecordExpr& e, bool creates);
  /// Base#name.field
  void record_field_expr(const RecordFieldExpr& e);
  /// The name that is_record/2 tests.
  void record_test(std::string_view name, Loc loc);
  /// `#name.field`
  void record_index(const RecordIndexExpr& e);

 private:
  void native_fields(const RecordExpr& e, const RecordInfo* r, bool creates);
  /// A warning: the record may be of another version of the module.
  void native_field(const RecordInfo& r, std::string_view field, Loc loc);
};

}  // namespace vmrun::compile

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/compile/check/builtins.hpp"
#include "runtime/compile/syntax/parsed_module.hpp"

/// The declarations of a module's attributes, collected once for lint and lowering. Errors within
/// attributes are reported on the way. Owned by one compilation; one thread at a time.
namespace vmrun::compile {

struct ImportInfo {
  std::string_view module;
  Loc loc;
  bool used = false;
};

struct RecordInfo {
  const RecordForm* form;
  std::size_t order;  // index of its form: a record may be used only behind its definition
  bool used = false;
  /// Returns the index of a field, or -1.
  int field_index(std::string_view name) const {
    for (std::size_t i = 0; i < form->fields.size(); ++i)
      if (form->fields[i].name == name) return static_cast<int>(i);
    return -1;
  }
};

/// What the name of a record means in a module.
struct RecordMeaning {
  enum Kind : std::uint8_t { kTuple, kLocal, kExternal, kAny } kind;
  std::string_view module, name;  // not of kAny
  bool is_native() const { return kind != kTuple; }
};

struct FunctionInfo {
  const FunctionForm* form;
};

struct NamedFunction {
  FunctionName name;
  Loc loc;
};

struct BehaviourInfo {
  std::string_view name;
  Loc loc;
};

class ModuleTables {
 public:
  std::string_view name;
  std::unordered_map<FunctionName, FunctionInfo, FunctionNameHash> functions;
  std::vector<const FunctionForm*> function_order;
  std::vector<NamedFunction> exports;  // as written, without repetitions
  std::unordered_set<FunctionName, FunctionNameHash> exported;
  bool export_all = false;
  Loc export_all_loc;
  std::unordered_map<FunctionName, ImportInfo, FunctionNameHash> imports;
  std::unordered_map<std::string_view, RecordInfo> records;
  std::unordered_map<std::string_view, std::string_view> record_imports;  // the module of each
  std::unordered_map<std::string_view, Loc> exported_records;
  std::unordered_set<FunctionName, FunctionNameHash> no_auto_import;
  bool no_auto_import_all = false;
  std::unordered_set<std::string_view> options;                      // plain atoms of -compile
  std::unordered_set<FunctionName, FunctionNameHash> nowarn_unused;  // -compile({nowarn_unused_function, …})
  std::vector<BehaviourInfo> behaviours;
  std::vector<const SpecForm*> callbacks;
  std::vector<const SpecForm*> specs;
  std::unordered_set<FunctionName, FunctionNameHash> optional_callbacks;
  std::vector<const TypeForm*> types;
  std::vector<NamedFunction> exported_types;
  std::optional<NamedFunction> on_load;
  std::vector<NamedFunction> nifs;               // functions that a library may replace
  std::vector<const AttributeForm*> attributes;  // those that module_info(attributes) returns

  /// -compile({parse_transform, ms_transform}): calls of fun2ms are replaced by match
  /// specifications (ms_transform.hpp).
  bool match_specs_from_funs = false;
  std::unordered_map<const Expr*, const Expr*> match_specs;

  /// Parse transforms that this compiler does not know. It does not compile a module that uses one.
  std::vector<std::string_view> transforms;
  // Declarations that a script may leave out:
  std::optional<Loc> module_loc;  // of a -module attribute in the text itself
  std::vector<FunctionName> implied_exports;

  /// Functions and records that are named by faulty expressions, or suggested by messages: no
  /// message about their use follows.
  std::unordered_set<std::string_view> excused;

  bool has_option(std::string_view option) const { return options.count(option) != 0; }
  bool is_exported(const FunctionName& f) const { return export_all || exported.count(f) != 0; }
  /// A record that is not known counts as one that is a tuple.
  RecordMeaning meaning(const RecordName& id) const {
    if (id.kind == RecordName::kAny) return {RecordMeaning::kAny, {}, {}};
    if (id.kind == RecordName::kRemote) return {RecordMeaning::kExternal, id.module, id.name};
    if (auto it = records.find(id.name); it != records.end())
      return {it->second.form->native ? RecordMeaning::kLocal : RecordMeaning::kTuple, name, id.name};
    if (auto it = record_imports.find(id.name); it != record_imports.end())
      return {RecordMeaning::kExternal, it->second, id.name};
    return {RecordMeaning::kTuple, name, id.name};
  }
  RecordMeaning meaning(std::string_view plain_name) const {
    return meaning(RecordName{RecordName::kPlain, {}, plain_name});
  }
  /// Whether a call of an auto-imported BIF by its plain name calls the BIF.
  bool auto_imports(const FunctionName& f) const {
    const Builtin* b = find_builtin(f.name, f.arity);
    return b && b->auto_imported && !no_auto_import_all && no_auto_import.count(f) == 0;
  }
};

/// `script`: main/0 and main/1 count as exported.
ModuleTables collect_tables(Session& session, const ParsedModule& module, bool script);

}  // namespace vmrun::compile

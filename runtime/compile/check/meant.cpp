// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/check/meant.hpp"

#include <set>

#include "vm/base/near_name.hpp"

namespace vmrun::compile {

namespace {

std::string shown(std::string_view name, std::uint32_t arity) {
  return quote_atom(name) + "/" + std::to_string(arity);
}

std::string meant_atom(const NearName& near) {
  return near.found().empty() ? std::string() : did_you_mean(quote_atom(near.found()));
}

/// Returns a built-in function with a similar name and the same number of arguments.
std::string_view near_builtin(const FunctionName& wrong) {
  NearName near(wrong.name, NearName::Names::kMany);
  for (const Builtin& b : all_builtins())
    if (b.auto_imported && b.arity == wrong.arity) near.offer(b.name);
  return near.found();
}

}  // namespace

/// Suggests the same name with another number of arguments, or else a similar name, preferably with
/// the same number.
std::string meant_function(ModuleTables& tables, const FunctionName& wrong, Callable callable) {
  std::set<std::uint32_t> arities;
  NearName same_arity(wrong.name), other_arity(wrong.name);
  std::uint32_t arity = 0;
  const auto offer = [&](const FunctionName& f) {
    if (f.name == wrong.name) arities.insert(f.arity);
    else if (f.arity == wrong.arity) same_arity.offer(f.name);
    else if (other_arity.offer(f.name)) arity = f.arity;
  };
  for (const FunctionForm* f : tables.function_order) offer({f->name, f->arity});
  std::string_view builtin;
  if (callable == Callable::kAny) {
    for (const auto& [name, import] : tables.imports) offer(name);
    for (const Builtin& b : all_builtins())
      if (b.auto_imported && b.name == wrong.name) arities.insert(b.arity);
    builtin = near_builtin(wrong);
  }
  for (const std::string_view name : {wrong.name, same_arity.found(), other_arity.found()})
    if (!name.empty()) tables.excused.insert(name);
  if (arities.empty()) {
    if (!same_arity.found().empty()) return did_you_mean(shown(same_arity.found(), wrong.arity));
    if (!builtin.empty()) return did_you_mean(shown(builtin, wrong.arity));
    return other_arity.found().empty() ? std::string() : did_you_mean(shown(other_arity.found(), arity));
  }
  std::string all;
  for (const std::uint32_t a : arities)
    all += (all.empty() ? "" : a == *arities.rbegin() ? " or " : ", ") + shown(wrong.name, a);
  return did_you_mean(all);
}

std::string meant_record(ModuleTables& tables, std::string_view wrong) {
  NearName near(wrong);
  for (const auto& [name, record] : tables.records) near.offer(name);
  if (!near.found().empty()) tables.excused.insert(near.found());
  return meant_atom(near);
}

std::string meant_field(const RecordForm& record, std::string_view wrong) {
  NearName near(wrong);
  for (const RecordFieldDef& field : record.fields) near.offer(field.name);
  return meant_atom(near);
}

std::string meant_type(const ModuleTables& tables, const FunctionName& wrong) {
  NearName near(wrong.name);
  std::uint32_t arity = 0;
  for (const TypeForm* t : tables.types)
    if (near.offer(t->name)) arity = static_cast<std::uint32_t>(t->params.size());
  for (const std::string_view name : builtin_types())
    if (is_builtin_type(name, wrong.arity) && near.offer(name)) arity = wrong.arity;
  if (near.found().empty()) return {};
  std::string holes;
  for (std::uint32_t i = 0; i < arity; ++i) holes += i == 0 ? "_" : ",_";
  return did_you_mean(quote_atom(near.found()) + "(" + holes + ")");
}

}  // namespace vmrun::compile

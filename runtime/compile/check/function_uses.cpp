// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/check/function_uses.hpp"

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "runtime/compile/check/meant.hpp"

namespace vmrun::compile {

/// Returns ", did you mean lists:map/2?" for map/2.
std::string FunctionUses::in_library(const FunctionName& f) const {
  if (!c_.session.library_has) return {};
  for (const std::string_view module : {"lists", "io", "maps", "string", "math", "timer", "file", "io_lib"})
    if (c_.session.library_has(module, f.name, f.arity))
      return did_you_mean(format_message("%.*s:%s/%u", VIEW(module), quote_atom(f.name).c_str(), f.arity));
  return {};
}

void FunctionUses::check_calls() {
  for (const Use& u : uses_) {
    if (c_.tables.functions.count(u.to) || c_.may_be_unread(u.to.name)) continue;
    if (u.to.name == "module_info" && u.to.arity < 2) continue;
    if (u.to == FunctionName{"behaviour_info", 1} && !c_.tables.callbacks.empty()) continue;
    std::string hint = meant_function(c_.tables, u.to, Callable::kAny);
    if (hint.empty()) hint = in_library(u.to);
    c_.error(u.loc, format_message("function %s/%u undefined%s", quote_atom(u.to.name).c_str(), u.to.arity,
                                   hint.c_str()));
  }
}

/// Warns about functions that are not reached from an exported one, nor from a form that could not
/// be read.
void FunctionUses::check_unused() {
  if (c_.tables.export_all || !c_.enabled("nowarn_unused_function")) return;
  std::unordered_map<FunctionName, std::vector<FunctionName>, FunctionNameHash> calls;
  std::vector<FunctionName> pending;
  for (const Use& u : uses_) {
    if (u.from.name.empty()) pending.push_back(u.to);  // from a record's default
    else calls[u.from].push_back(u.to);
  }
  for (const NamedFunction& e : c_.tables.exports) pending.push_back(e.name);
  if (c_.tables.on_load) pending.push_back(c_.tables.on_load->name);
  for (const FunctionForm* f : c_.tables.function_order)
    if (c_.may_be_used(f->name)) pending.push_back({f->name, f->arity});
  std::unordered_set<FunctionName, FunctionNameHash> reached;
  while (!pending.empty()) {
    FunctionName f = pending.back();
    pending.pop_back();
    if (!reached.insert(f).second) continue;
    auto& next = calls[f];
    pending.insert(pending.end(), next.begin(), next.end());
  }
  for (const FunctionForm* f : c_.tables.function_order) {
    FunctionName name{f->name, f->arity};
    if (!reached.count(name) && !c_.tables.nowarn_unused.count(name))
      c_.warning(f->loc, format_message("function %s/%u is unused", quote_atom(f->name).c_str(), f->arity));
  }
}

}  // namespace vmrun::compile

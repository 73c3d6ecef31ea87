// SPDX-License-Identifier: Apache-2.0
// Modules of native code as tracers (erl_tracer(3)): the machine calls their functions itself.

#include "vm/code/code_server.hpp"
#include "vm/code/module.hpp"
#include "vm/code/native_call.hpp"
#include "vm/nif/guard.hpp"
#include "vm/nif/library.hpp"
#include "vm/trace/event.hpp"

namespace vmrun {
namespace {

bool has_name(const NifFunction& f, std::string_view prefix, std::string_view group) {
  const std::string_view name = atom_text(f.entry->function);
  if (group.empty()) return name == prefix;
  return name.size() == prefix.size() + 1 + group.size() && name.starts_with(prefix) &&
         name[prefix.size()] == '_' && name.ends_with(group);
}

/// Returns the function of the module's library; valid while the caller is in an epoch.
const NifFunction* find_function(Term module, std::string_view prefix, std::string_view group,
                                 unsigned arity) {
  const Module* m = current_module(module);
  if (!m) return nullptr;
  for (const std::uint32_t n : native_function_numbers(*m)) {
    const NifFunction& f = nif_functions[n];
    if (f.arity == arity && has_name(f, prefix, group)) return &f;
  }
  return nullptr;
}

}  // namespace

bool traces_by_library(Term module) {
  const ProcessPointers guard;
  return find_function(module, "enabled", {}, 3) && find_function(module, "trace", {}, 5);
}

Term call_library_tracer(Term module, std::string_view prefix, std::string_view group, Term self,
                         const Term* arguments, unsigned arity) {
  const ProcessPointers guard;
  const NifFunction* f = group.empty() ? nullptr : find_function(module, prefix, group, arity);
  if (!f) f = find_function(module, prefix, {}, arity);
  if (!f) return kNonValue;
  CallbackEnv env(f->library);
  env.tracee = self;
  ERL_NIF_TERM words[5];
  for (unsigned i = 0; i < arity; ++i) words[i] = from_term(arguments[i]);
  const Term answer = to_term(f->fn(&env, static_cast<int>(arity), words));
  return answer.is_value() && answer.is_atom() ? answer : kNonValue;
}

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vm/code/native_env.hpp"

/// Libraries of native functions: loading, upgrade, unloading. One library object belongs to one
/// loaded version of a module. It is never shared, though the operating system may map the file
/// only once. All functions are thread-safe.
namespace vmrun {

struct Module;

struct NifFailure {
  Term reason;       // load_failed, bad_lib, load, reload, upgrade, old_code
  std::string text;  // for people; it names the library
};

/// Registers native functions that are linked into the program, for the module of that name.
/// load_nif with the name, or with a path that ends in it, finds them instead of a file. entry:
/// what a library's nif_init would be. A module takes only those of its functions that it has.
/// Called before the first process.
void register_linked_in_nifs(const char* name, ErlNifEntry* (*entry)());

/// Returns the entry for such a function; made once.
inline ErlNifEntry linked_in_entry(const char* module, std::span<ErlNifFunc> functions,
                                   decltype(ErlNifEntry::load) load, decltype(ErlNifEntry::upgrade) upgrade) {
  return {ERL_NIF_MAJOR_VERSION,
          ERL_NIF_MINOR_VERSION,
          module,
          static_cast<int>(functions.size()),
          functions.data(),
          load,
          nullptr,
          upgrade,
          nullptr,
          ERL_NIF_VM_VARIANT,
          1,
          sizeof(ErlNifResourceTypeInit),
          ERL_NIF_MIN_ERTS_VERSION};
}

/// For the load function of a linked-in library: whether the module that loads it has taken this
/// function. So the library knows of which release of OTP the module is.
bool takes_native(const ErlNifEnv& env, std::string_view function, unsigned arity);

/// erlang:load_nif/2, called by code of `m` in the thread that runs p: opens PATH.so, checks it,
/// calls its load or upgrade, and makes its functions those of the module. Returns false on
/// failure: see *failure; nothing has changed then.
[[nodiscard]] bool load_nif_library(Process& p, Module& m, const std::string& path, Term load_info,
                                    NifFailure* failure);

/// Returns the module's native functions, as {function, arity}.
std::vector<std::pair<Term, unsigned>> native_functions(const Module& m);

/// Returns their numbers (code/native_call.hpp), valid while the caller is in an epoch.
std::span<const std::uint32_t> native_function_numbers(const Module& m);

// Modules of native code as tracers: see trace/trace_upcalls.hpp. Any thread.

bool traces_by_library(Term module);
Term call_library_tracer(Term module, std::string_view prefix, std::string_view group, Term self,
                         const Term* arguments, unsigned arity);

/// Retires the version's code (vm/code/reclaim.hpp), with its library if it has one: its functions
/// are the Erlang ones again. When no process executes its native code and no resource needs it any
/// more, the thread that notices that calls unload, and the file is closed.
void retire_with_library(Module* m);

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "vm/code/native_env.hpp"

/// Calls of native functions. A function that a library replaces gets the instruction call_nif (or
/// call_dirty_nif) as its first one. Only the operation's 16 bits are stored, so a thread that is
/// just executing the old instruction still finds its operands. The header in front says which
/// native function it is (FunctionHeader::nif). So every way of calling the function, local,
/// remote, through funs or apply, ends up here.
namespace vmrun {

struct NifFunction {
  ERL_NIF_TERM (*fn)(ErlNifEnv*, int, const ERL_NIF_TERM*);
  NifLibrary* library;
  Export* entry;  // M:F/A, for traces and probes
  // The first instruction and its original operation. `code` is nullptr for a function that
  // enif_schedule_nif made.
  Word* code;
  std::uint32_t arity;
  std::uint16_t original_operation;
  std::uint8_t flags;  // ErlNifDirtyTaskFlags
  bool delays_halt;    // delaying_call.hpp
};

/// All native functions by number. A number is reused when no process can be in code that has it
/// (reclaim.hpp).
inline constexpr std::uint32_t kMaxNifFunctions = 1u << 20;
extern NifFunction* const nif_functions;

/// Returns the number of an unused entry; 0 when the table is full.
std::uint32_t new_nif_function();
/// Frees these entries. No thread reads them any more.
void free_nif_functions(const std::vector<std::uint32_t>& numbers);
/// Returns one more than the highest number given out.
std::uint32_t nif_function_count();

/// Whether the process has come back to its call_dirty_nif (nif/dirty.hpp) with an exception set.
bool dirty_call_raised(Process& p);

/// Finishes a call that raised, scheduled another function or left temporaries. Returns the result,
/// or kNonValue with p.bif_action set.
Term finish_nif(ErlNifEnv& env, const NifFunction& f, Term result, Term* trap_registers);

/// Does what call_nif does, for a function that delays the end of the machine.
Term call_delaying_nif(Process& p, const NifFunction& f, Term* x);

/// The call itself, without what call_nif does around it.
inline Term run_nif(Process& p, const NifFunction& f, Term* x) {
  ErlNifEnv env(&p, &p.heap, f.library);
  const Term result =
      to_term(f.fn(&env, static_cast<int>(f.arity), reinterpret_cast<const ERL_NIF_TERM*>(x)));
  if (env.unfinished || !result.is_value()) [[unlikely]]
    return finish_nif(env, f, result, x);
  return result;
}

/// Runs f for p in the thread that runs p; p's registers are stored back. The result is as for a
/// BIF.
inline Term call_nif(Process& p, const NifFunction& f, Term* x) {
  if (f.delays_halt) [[unlikely]]
    return call_delaying_nif(p, f, x);
  return run_nif(p, f, x);
}

/// Called when a call that led to scheduled functions is over.
void forget_noted_call(Process& p);
/// Does what call_nif does, for a function that was scheduled.
inline Term call_scheduled_nif(Process& p, const NifFunction& f, Term* x) {
  const Term result = call_nif(p, f, x);
  if (result.is_value()) forget_noted_call(p);
  return result;
}

/// Returns the function that runs after this one for enif_schedule_nif. One export is made for each
/// combination and kept while the library is loaded. nullptr when there are too many.
Export* scheduled_nif(NifLibrary* library, Term module, Term name, unsigned arity, unsigned flags,
                      bool delays_halt, ERL_NIF_TERM (*fn)(ErlNifEnv*, int, const ERL_NIF_TERM*));
/// The library is being unloaded: functions that it has scheduled, and that no scheduler has begun
/// by the next slice boundary, are undefined from here on.
void undefine_scheduled_nifs(const NifLibrary* library);
/// No process is in any of these functions, and the library will not schedule another: their
/// entries may be reused.
void forget_scheduled_nifs(const NifLibrary* library);
/// Whether p runs, or is about to run, a function that this library has scheduled. For threads see
/// is_inside.
bool is_in_scheduled_nif(const Process& p, const NifLibrary* library);

}  // namespace vmrun

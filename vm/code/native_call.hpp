#pragma once

#include <string>
#include <vector>

#include "vm/code/native_env.hpp"

/// Calls of native functions. A function that a library replaces gets the instruction call_nif (or
/// call_dirty_nif) as its first one: only the operation's 16 bits are stored, so a thread that is
/// just executing the old instruction still finds its operands; which native function it is stands
/// in the header in front (FunctionHeader::nif). So every way of calling the function, local,
/// remote, through funs or apply, ends up here.
namespace vmrun {

struct NifFunction {
  ERL_NIF_TERM (*fn)(ErlNifEnv*, int, const ERL_NIF_TERM*);
  NifLibrary* library;
  Export* entry;  // M:F/A, for traces and probes
  Word*
      // the first instruction, and what stood there; nullptr for a function that enif_schedule_nif
      // made
      code;
  std::uint32_t arity;
  std::uint16_t original_operation;
  std::uint16_t flags;  // ErlNifDirtyTaskFlags
};

/// All native functions by number. A number is given to another function when nobody can be in code
/// that has it (reclaim.hpp).
inline constexpr std::uint32_t kMaxNifFunctions = 1u << 20;
extern NifFunction* const nif_functions;

/// An unused entry's number; 0 when the table is full.
std::uint32_t new_nif_function();
/// Nobody will look at these entries again.
void free_nif_functions(const std::vector<std::uint32_t>& numbers);
/// One more than the highest number given out.
std::uint32_t nif_function_count();

/// The process has come back to its call_dirty_nif (nif/dirty.hpp), with an exception set.
bool dirty_call_raised(Process& p);

/// The file of a library, for reports; filled in by vm/nif before main begins.
using NativeLibraryPath = const std::string& (*)(const NifLibrary* library);
extern constinit NativeLibraryPath native_library_path;

/// What follows a call that raised, scheduled another function or left temporaries. kNonValue with
/// p.bif_action set, or the result.
Term finish_nif(ErlNifEnv& env, const NifFunction& f, Term result, Term* trap_registers);

/// Runs f for p in its own thread; p's registers are stored back. Result as of a BIF.
inline Term call_nif(Process& p, const NifFunction& f, Term* x) {
  ErlNifEnv env(&p, &p.heap, f.library);
  const Term result =
      to_term(f.fn(&env, static_cast<int>(f.arity), reinterpret_cast<const ERL_NIF_TERM*>(x)));
  if (env.unfinished || !result.is_value()) [[unlikely]]
    return finish_nif(env, f, result, x);
  return result;
}

/// A call that led to functions that were scheduled is over.
void forget_noted_call(Process& p);
/// The same as call_nif for a function that was scheduled.
inline Term call_scheduled_nif(Process& p, const NifFunction& f, Term* x) {
  const Term result = call_nif(p, f, x);
  if (result.is_value()) forget_noted_call(p);
  return result;
}

/// The function to run after this one for enif_schedule_nif: made once for each combination, while
/// the library is there. nullptr when there are too many.
Export* scheduled_nif(NifLibrary* library, Term module, Term name, unsigned arity, unsigned flags,
                      ERL_NIF_TERM (*fn)(ErlNifEnv*, int, const ERL_NIF_TERM*));
/// The library goes: what it has scheduled, and no scheduler has begun by the next slice boundary,
/// is undefined from here on.
void undefine_scheduled_nifs(const NifLibrary* library);
/// Nobody is in any of them, nor will the library schedule another: what they took may be reused.
void forget_scheduled_nifs(const NifLibrary* library);
/// p is about to run, or runs, a function that this library has scheduled. As is_inside.
bool is_in_scheduled_nif(const Process& p, const NifLibrary* library);

}  // namespace vmrun

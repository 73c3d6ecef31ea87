// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <vector>

#include "vm/code/module.hpp"
#include "vm/term/arith.hpp"
#include "vm/term/bits_fields.hpp"
#include "vm/term/compare.hpp"

/// The longer parts of instructions. The interpreter calls them with top, stop and reductions
/// stored back. "May collect": terms held by the caller are invalid afterwards.
namespace vmrun {

struct NifFunction;

inline constexpr unsigned kOperandsSwapped = 1u << 15;

/// Makes room for so many words. May collect; then `live` x registers and `extra` are roots, and
/// both are kept up to date. Returns false if p is too large by that (max_heap_size): it ends soon.
bool room_for(Process& p, Word words, Term* x, unsigned live, Term* extra, unsigned count);

/// How the instruction for all operators says which one it is.
constexpr unsigned arith_bit(ArithOp op) { return 1u << static_cast<unsigned>(op); }
static_assert(arith_bit(ArithOp::kBnot) <= 0xFFFF);

/// An operator that is not done in the loop, and what is to be known when it has no result.
struct SlowOperation {
  Term operands[3];  // of built-in functions in guards too, which have up to three
  ArithOp op;
  unsigned live_registers;  // with kOperandsSwapped if that has been done
  SWord fail_distance;      // of the jump; 0 for none
};
/// Does an operator on operands[0] and [1] that is not a plain small one. May collect (operands are
/// kept up to date); `live` x registers are roots. Returns kNonValue on failure: see arith_failure;
/// or, with BifAction::kDirty, when it takes long and the process has to go to a dirty scheduler.
Term slow_arith(Process& p, ArithOp op, SlowOperation* operation, Term* x);
/// The export of erlang:'+' and so on, for traces.
Export* operator_export(ArithOp op);

/// Called in place of a guard built-in that is not registered: raises undef.
Term undefined_guard_bif(Process& p, const Term* args);

/// Returns the export of an applied M:F/Arity; nullptr when they are not atoms.
const Export* apply_target(Term module, Term function, unsigned arity);
/// Makes x the arguments of erlang:apply/3 that stand for an applied M:F/Arity. M and F were behind
/// its arguments.
void gather_arguments(Process& p, Term* x, unsigned arity);
/// Whether it is erlang:apply/3.
inline bool is_apply(const Export& e) {
  return e.function == atoms::apply && e.module == atoms::erlang && e.arity == 3;
}
/// Whether this is a built-in function that only raises, or apply of one, however deeply nested.
/// Then the trace begins with the caller, for tail calls too. x: the arguments.
bool leads_to_raising(const Export& e, const Term* x);
/// Copies a list to argument registers. Returns false when it is not a proper list or has more than
/// 255 elements.
bool spread_arguments(Term list, Term* x, unsigned* arity);
/// An undefined function is called, and its module has been looked for. Returns where to go on
/// (arguments are in place), or nullptr: undef, unless p has an error handler of its own.
const Word* resolve_undefined(Process& p, const Export& e, Term* x);
/// Comes before resolve_undefined: loads the module, or returns true when a dirty scheduler has to
/// load it. The process then goes there (RunResult::kDirty) and comes to this instruction again. A
/// module that p's own error handler decides about is not loaded, unless loading is quick, as from
/// the embedded library.
bool load_on_dirty(Process& p, const Export& e);
/// Whether p has named an error handler with process_flag(error_handler, Module). Otherwise the
/// machine loads undefined functions itself, but asks error_handler about funs.
bool has_own_error_handler(const Process& p);
/// From now on every process counts as one that has named an error handler; where it names none,
/// that is error_handler. This module loads what is called. Called before the first process begins.
void use_error_handler_for_all();
/// Does that for calls of these modules while they are not loaded. Called before the first process
/// begins.
void use_error_handler_for(std::vector<Term> modules);
/// Whether it is one of those modules.
bool error_handler_is_used_for(Term module);
/// Whether the error handler decides about p's call of an undefined function of this module.
bool is_for_error_handler(const Process& p, Term module);
/// Returns undefined_function/3 or undefined_lambda/3 of p's error handler. nullptr: that handler
/// lacks the function.
const Export* error_handler(const Process& p, Term name);
/// For a fun whose code is missing while its module is being purged: p is suspended, and goes on
/// with the returned function, called like undefined_lambda/3, when the purge is over. nullptr: p
/// does not wait.
const Export* pending_purge(Process& p, Term module);
/// Copies a fun's free variables behind the arguments.
inline void spread_environment(const FunObject& f, Term* x) {
  const Term* from = f.environment();
  Term* to = x + f.arity;
  for (std::uint32_t i = 0; i < f.free_count; i++) to[i] = from[i];
}

/// Returns the value of an encoded source.
inline Term decode_source(Word w, const Term* x, const Term* e) {
  if (w & 3) return Term::from_raw(w);
  return w & 4 ? e[w >> 4] : x[w >> 4];
}

/// Copies a few words, two at a time.
inline void copy_words(Term* to, const Term* from, Word n) {
  Word k = 0;
  for (; k + 1 < n; k += 2) std::memcpy(static_cast<void*>(to + k), from + k, 2 * sizeof(Term));
  if (k < n) to[k] = from[k];
}

/// Sets new values for keys that a small map already has. Returns the map if the values are the old
/// ones, or a new map at h, the top of the heap. Returns the non-value when a key is missing, when
/// the map is large, or when there is no room below the stack e. pairs: as below.
Term replace_values(Term map, const Word* pairs, unsigned count, const Term* x, const Term* e, Term* h);
/// put_map_assoc (exact = false) and put_map_exact. pairs: encoded key, value… May collect. Returns
/// kNonValue when *missing does not exist.
Term put_map(Process& p, bool exact, Term* missing, Term map, const Word* pairs, unsigned count, Term* x,
             unsigned live);

// For machine code, in the middle of which nothing may collect. kNonValue: the instruction itself
// has to do it, since there is no room, it takes long, or it fails.

/// Whether so much lies outside the heap's block that the process should collect.
bool is_collection_due(const Process& p);
Term arith_in_room(Process& p, ArithOp op, Term a, Term b);
/// put_map, with the terms of the pairs.
Term put_map_in_room(Process& p, bool exact, Term map, const Term* pairs, Word n);

/// bs_get_integer of any size. May collect unless live is kNoCollect. Returns kNonValue: no match.
inline constexpr unsigned kNoCollect = 0xFFFF;
Term match_integer(Process& p, Term ctx, Term size, unsigned unit, unsigned flags, Term* x, unsigned live);

/// Whether a size is a positive big integer: no bit string is that large.
inline bool is_too_large_a_size(Term size) {
  return size.is_boxed() && size.boxed_ptr()->header_sub() == Term::Sub::kPosBig;
}
/// bs_create_bin. segments: three words each (see instructions.hpp). Leaves `need` words free. May
/// collect. Returns kNonValue with the exception set.
Term create_binary(Process& p, const Word* segments, unsigned count, Word need, Term* x, unsigned live);

// Probes and tracing of calls, for the traced instructions, with everything stored. pushed: how
// many words the call is about to push: 1 for its return address, or 0. last: the built-in function
// returns to the address on top of the stack. depth: words in use on the stack.
void trace_local_entry(Process& p, const Word* entry, const Term* x, unsigned pushed);
// For processes that save their last calls (trace/saved_calls.hpp): the instruction that sends;
// receive, which the function that runs pays for (trace/call_trace.hpp), and timeout.
void trace_send_call(Process& p);
void trace_saved_event(Process& p, Term what);
/// A process begins with module, function and list of arguments in x. Reports the function that it
/// was spawned as, if that is erlang:apply/2, which is then reported as what it applies.
void trace_first_call(Process& p, const Term* x);
void trace_global_entry(Process& p, const Export& e, const Term* x, unsigned pushed);
void trace_function_entry(Process& p, const FunctionHeader& f, bool global, Word depth);
void trace_fun(Process& p, const FunObject& f, bool global, const Term* x, unsigned pushed);
void trace_return(Process& p, const Word* ip, const Term* x);
void trace_bif_entry(Process& p, const Export& e, const Term* x, bool last);
void trace_bif_return(Process& p, const Export& e, Term result, bool last);
/// For an instruction that may stand in a guard; does nothing if the built-in is one for guards.
void trace_body_bif_entry(Process& p, const Export& e, const Term* arguments);
void trace_body_bif_return(Process& p, const Export& e, Term result);
void trace_nif_entry(Process& p, const NifFunction& f);
void trace_nif_return(Process& p, const NifFunction& f, Term result);

}  // namespace vmrun

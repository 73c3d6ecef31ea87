#pragma once

#include <cstring>
#include <vector>

#include "vm/code/module.hpp"
#include "vm/term/arith.hpp"
#include "vm/term/compare.hpp"

/// The longer parts of instructions, called by the interpreter with top, stop and reductions stored
/// back. "May collect": terms held by the caller are invalid afterwards.
namespace vmrun {

struct NifFunction;

inline constexpr unsigned kOperandsSwapped = 1u << 15;

/// An operator on operands[0] and [1] that is not a plain small one. May collect (operands are kept
/// up to date); `live` x registers are roots. kNonValue: see arith_failure; or, with
/// BifAction::kDirty, it takes long and the process is to leave. The operands of one that
/// commutes may have changed places when the code was loaded: then `live` has kOperandsSwapped.
Term slow_arith(Process& p, ArithOp op, Term* operands, Term* x, unsigned live);
/// erlang:'+' and so on, for traces.
Export* operator_export(ArithOp op);

/// Called in place of a guard built-in that nobody has registered: raises undef.
Term undefined_guard_bif(Process& p, const Term* args);

/// Export of an applied M:F/Arity; nullptr when they are no atoms.
const Export* apply_target(Term module, Term function, unsigned arity);
/// x becomes the arguments of erlang:apply/3 that stand for an applied M:F/Arity: M and F were
/// behind its arguments.
void gather_arguments(Process& p, Term* x, unsigned arity);
/// erlang:apply/3.
inline bool is_apply(const Export& e) {
  return e.function == atoms::apply && e.module == atoms::erlang && e.arity == 3;
}
/// A built-in function that only raises, or apply of one, however often: the trace begins with who
/// calls it, in the last place too. x: the arguments.
bool leads_to_raising(const Export& e, const Term* x);
/// List to argument registers; false when it is no proper list or has more than 255 elements.
bool spread_arguments(Term list, Term* x, unsigned* arity);
/// An undefined function is called, and its module has been looked for. Where to go on (arguments
/// in place), or nullptr: undef, unless p's own error handler knows better.
const Word* resolve_undefined(Process& p, const Export& e, Term* x);
/// Before that: loads the module, or tells that it is to be loaded on a dirty scheduler. The
/// process then goes there (RunResult::kDirty) and comes to the same instruction again. What an
/// error handler of p's own is to decide about is not loaded; the embedded library is as good as
/// loaded.
bool load_on_dirty(Process& p, const Export& e);
/// Whether p has said who deals with what is not there, by process_flag(error_handler, Module).
/// Else the machine loads undefined functions by itself, but for funs it asks error_handler.
bool has_own_error_handler(const Process& p);
/// From now on every process counts as one that has, error_handler where it names no other: that
/// module loads what is called. Before the first process.
void use_error_handler_for_all();
/// The same for calls of these modules while they are not loaded. Before the first process.
void use_error_handler_for(std::vector<Term> modules);
/// Whether it is one of them.
bool error_handler_is_used_for(Term module);
/// Whether a call of an undefined function of it by p is the error handler's business.
bool is_for_error_handler(const Process& p, Term module);
/// undefined_function/3 or undefined_lambda/3 of p's error handler; nullptr: one of its own lacks
/// it.
const Export* error_handler(const Process& p, Term name);
/// For a fun whose code is not there, while its module is being purged: p is suspended, and goes on
/// with this function, as with undefined_lambda/3, when that is over. nullptr: it does not wait.
const Export* pending_purge(Process& p, Term module);
/// Copies a fun's free variables behind the arguments.
inline void spread_environment(const FunObject& f, Term* x) {
  const Term* from = f.environment();
  Term* to = x + f.arity;
  for (std::uint32_t i = 0; i < f.free_count; i++) to[i] = from[i];
}

/// Value of an encoded source.
inline Term decode_source(Word w, const Term* x, const Term* e) {
  if (w & 3) return Term::from_raw(w);
  return w & 4 ? e[w >> 4] : x[w >> 4];
}

/// A few words, two at a time.
inline void copy_words(Term* to, const Term* from, Word n) {
  Word k = 0;
  for (; k + 1 < n; k += 2) std::memcpy(static_cast<void*>(to + k), from + k, 2 * sizeof(Term));
  if (k < n) to[k] = from[k];
}

/// New values for keys that a small map has all: the map if they are the old ones, or a new one at
/// h, the top of the heap. The non-value when a key is missing, the map is large, or there is no
/// room below the stack e. pairs: as below.
Term replace_values(Term map, const Word* pairs, unsigned count, const Term* x, const Term* e, Term* h);
/// Maps: put_map_assoc (exact = false) and put_map_exact. pairs: encoded key, value… May collect.
/// kNonValue: *missing does not exist.
Term put_map(Process& p, bool exact, Term* missing, Term map, const Word* pairs, unsigned count, Term* x,
             unsigned live);

/// bs_get_integer of any size. May collect unless live is kNoCollect. kNonValue: no match.
inline constexpr unsigned kNoCollect = 0xFFFF;
Term match_integer(Process& p, Term ctx, Term size, unsigned unit, unsigned flags, Term* x, unsigned live);

/// A size that is a positive big integer: no bit string is that large.
inline bool is_too_large_a_size(Term size) {
  return size.is_boxed() && size.boxed_ptr()->header_sub() == Term::Sub::kPosBig;
}
/// bs_create_bin. segments: three words each (see instructions.hpp); leaves `need` words free. May
/// collect. kNonValue: exception set.
Term create_binary(Process& p, const Word* segments, unsigned count, Word need, Term* x, unsigned live);

// Probes and tracing of calls of the traced instructions, with everything stored. pushed: how many
// words the call is about to push, its return address or nothing; last: a built-in function that
// returns to what is on top of the stack. depth: words in use on the stack.
void trace_local_entry(Process& p, const Word* entry, const Term* x, unsigned pushed);
// For who saves the last calls (trace/saved_calls.hpp): the instruction that sends; receive and
// timeout.
void trace_send_call(Process& p);
void trace_saved_event(Process& p, Term what);
/// Of a process that begins with module, function and list of arguments x: what it was spawned as,
/// if that is erlang:apply/2, which then shows as what it applies.
void trace_first_call(Process& p, const Term* x);
void trace_global_entry(Process& p, const Export& e, const Term* x, unsigned pushed);
void trace_function_entry(Process& p, const FunctionHeader& f, bool global, Word depth);
void trace_fun(Process& p, const FunObject& f, bool global, const Term* x, unsigned pushed);
void trace_return(Process& p, const Word* ip, const Term* x);
void trace_bif_entry(Process& p, const Export& e, const Term* x, bool last);
void trace_bif_return(Process& p, const Export& e, Term result, bool last);
/// Of an instruction that may stand in a guard: nothing if the built-in is one for guards.
void trace_body_bif_entry(Process& p, const Export& e, const Term* arguments);
void trace_body_bif_return(Process& p, const Export& e, Term result);
void trace_nif_entry(Process& p, const NifFunction& f);
void trace_nif_return(Process& p, const NifFunction& f, Term result);

}  // namespace vmrun

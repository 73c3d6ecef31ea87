#pragma once

#include "vm/process/process.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/fun.hpp"

/// The contract between the machine and built-in functions.
///
/// A BIF runs in the calling process's thread with p.heap, p.reductions stored back. `args` has as
/// many terms as its arity; they stay valid across p.heap.alloc. It returns a term, or kNonValue
/// after one of the functions below has said why. It never collects, never throws. Rows are listed
/// once, in runtime/bif/bif.tab.
namespace vmrun {

/// What a call that failed met, as an atom for `cause` in error_info, or kNonValue. Called right
/// after the failure.
using FailureCause = Term (*)(Process& p, unsigned arity, const Term* args);

struct BifRow {
  const char* module;
  const char* name;
  std::uint8_t arity;
  std::uint8_t flags;
  BifFn fn;
  FailureCause cause;  // nullptr: its module needs none
  // Columns of the table:
  static constexpr std::uint8_t kGuard = 1;     // allowed in guards; silent for the bif probes
  static constexpr std::uint8_t kLocated = 2;   // its call stores where it stands
  static constexpr std::uint8_t kHeavy = 4;     // fires global-function-entry too
  static constexpr std::uint8_t kUnlisted = 8;  // system_info(snifs) does not name it, is_builtin/3 is false
};

// Each sets the exception and returns kNonValue, so that a BIF can say `return raise_badarg(p);`.
Term raise(Process& p, ExceptionClass cls, Term value);
inline Term raise_error(Process& p, Term reason) { return raise(p, ExceptionClass::kError, reason); }
inline Term raise_badarg(Process& p) { return raise_error(p, atoms::badarg); }
inline Term raise_badarith(Process& p) { return raise_error(p, atoms::badarith); }
inline Term raise_system_limit(Process& p) { return raise_error(p, atoms::system_limit); }
Term raise_badkey(Process& p, Term key);    // {badkey, Key}
Term raise_badmap(Process& p, Term value);  // {badmap, Value}

/// Ends the BIF by a tail call of an Erlang function (arity taken from the export); arguments are
/// copied to the argument registers.
Term trap_to(Process& p, const Export* target, std::initializer_list<Term> args);
/// Ends the slice; the BIF is called again with the same arguments when the process runs next.
inline Term yield_and_retry(Process& p) {
  p.bif_action = BifAction::kYield;
  return kNonValue;
}
/// Gives up the core until something arrives for the process (a reply, see message/request.hpp);
/// then the BIF is called again with the same arguments. May wake early: the BIF checks what it
/// waits for.
inline Term suspend_and_retry(Process& p) {
  p.bif_action = BifAction::kSuspend;
  return kNonValue;
}
/// The same while a port is busy: who asks for the process's status sees `suspended`.
inline Term suspend_while_busy(Process& p) {
  p.bif_action = BifAction::kSuspendBusy;
  return kNonValue;
}
/// The result of a built-in function that has sent what may have gone to another node. Who is to
/// wait for a busy connection does so first: the BIF ends by a tail call of the function that OTP
/// has for that (dist/channel.hpp), which returns the result.
[[gnu::cold]] Term wait_when_sent(Process& p, Term result);
/// The built-in function that does so in place of `sending`: the mark `signals` of bif.tab.
template <BifFn sending>
Term waits_when_sent(Process& p, const Term* args) {
  const Term result = sending(p, args);
  return p.suspend_count ? wait_when_sent(p, result) : result;
}
/// Ends the process with this reason; no catch sees it.
inline Term exit_now(Process& p, Term reason) {
  p.bif_action = BifAction::kExitNow;
  p.exception_value = reason;
  return kNonValue;
}
/// Charges work to the slice.
inline void bump_reductions(Process& p, SWord n) {
  p.reductions -= static_cast<std::int32_t>(n > 1 << 24 ? 1 << 24 : n);
}

}  // namespace vmrun

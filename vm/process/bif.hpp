// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/base/release.hpp"
#include "vm/process/process.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/fun.hpp"

/// The contract between the machine and built-in functions.
///
/// A BIF runs in the calling process's thread. p.heap and p.reductions are stored back. `args` has
/// as many terms as its arity; they stay valid across p.heap.alloc. A BIF returns a term, or
/// kNonValue after one of the functions below has set the reason. It never collects and never
/// throws. runtime/bif/bif.tab lists all BIFs.
namespace vmrun {

/// Returns the cause of a failed call as an atom for `cause` in error_info, or kNonValue. Called
/// right after the failure.
using FailureCause = Term (*)(Process& p, unsigned arity, const Term* args);

struct BifRow {
  const char* module;
  const char* name;
  std::uint8_t arity;
  std::uint8_t flags;
  // release.tab:
  std::uint8_t since;     // the release from which on it exists
  std::uint8_t removed;   // the first release without it, or kNever
  std::uint8_t relisted;  // the release from which on kUnlisted is reversed, or kNever
  BifFn fn;
  FailureCause cause;  // nullptr when its module needs none
  bool exists() const { return since <= release_number && release_number < removed; }
  std::uint8_t flags_now() const { return relisted <= release_number ? flags ^ kUnlisted : flags; }
  static constexpr std::uint8_t kNever = 255;
  // Columns of the table:
  static constexpr std::uint8_t kGuard = 1;     // allowed in guards; silent for the bif probes
  static constexpr std::uint8_t kLocated = 2;   // its call stores the code location
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

/// Ends the BIF by a tail call of an Erlang function, whose arity is in the export. Copies the
/// arguments to the argument registers.
Term trap_to(Process& p, const Export* target, std::initializer_list<Term> args);
/// Ends the slice. The BIF is called again with the same arguments when the process runs next.
inline Term yield_and_retry(Process& p) {
  p.bif_action = BifAction::kYield;
  return kNonValue;
}
/// Gives up the core until something arrives for the process (such as a reply, see
/// message/request.hpp). Then the BIF is called again with the same arguments. The process may wake
/// early, so the BIF checks what it waits for.
inline Term suspend_and_retry(Process& p) {
  p.bif_action = BifAction::kSuspend;
  return kNonValue;
}
/// As suspend_and_retry, while a port is busy: the process's status is `suspended`.
inline Term suspend_while_busy(Process& p) {
  p.bif_action = BifAction::kSuspendBusy;
  return kNonValue;
}
/// Returns the result of a built-in function that may have sent something to another node. If the
/// process must wait for a busy connection, it waits first: the BIF ends by a tail call of the
/// function that OTP has for that (dist/channel.hpp), which returns the result.
[[gnu::cold]] Term wait_when_sent(Process& p, Term result);
/// A built-in function that calls `sending` and waits as above: the mark `signals` of bif.tab.
template <BifFn sending>
Term waits_when_sent(Process& p, const Term* args) {
  const Term result = sending(p, args);
  return p.suspend_count ? wait_when_sent(p, result) : result;
}
/// Ends the process with this reason. No catch sees it.
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

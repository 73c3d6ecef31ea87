// SPDX-License-Identifier: Apache-2.0
#include "vm/process/bif.hpp"

#include "vm/process/core.hpp"
#include "vm/process/dirty_job.hpp"
#include "vm/process/process_state.hpp"
#include "vm/term/bits.hpp"

namespace vmrun {

Term raise(Process& p, ExceptionClass cls, Term value) {
  if (p.bif_action == BifAction::kExitNow) return kNonValue;  // too large: it ends, and catches nothing
  p.bif_action = BifAction::kRaise;
  p.exception_class = cls;
  p.exception_value = value;
  p.exception_trace = Term::nil();
  return kNonValue;
}
Term raise_badkey(Process& p, Term key) {
  key = settled(p.heap, key);
  Term* hp = p.heap.alloc(3);
  return raise_error(p, make_tuple(hp, atoms::badkey, key));
}
Term raise_badmap(Process& p, Term value) {
  value = settled(p.heap, value);
  Term* hp = p.heap.alloc(3);
  return raise_error(p, make_tuple(hp, atoms::badmap, value));
}

Term trap_to(Process& p, const Export* target, std::initializer_list<Term> args) {
  Term* x = this_core()->x;
  for (Term t : args) *x++ = t;
  p.trap_target = target;
  p.bif_action = BifAction::kTrap;
  return kNonValue;
}

Term wait_when_sent(Process& p, Term result) {
  if (!result.is_value() || !p.extra || !p.extra->waits_for_connection) return result;
  if (dirty_thread_kind() != DirtyKind::kNone) return result;  // it waits on its return from there
  return trap_to(p, p.extra->suspended_in, {result, atoms::undefined});
}

}  // namespace vmrun

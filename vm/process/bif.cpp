#include "vm/process/bif.hpp"

#include "vm/process/core.hpp"
#include "vm/term/layout.hpp"

namespace vmrun {

Term raise(Process& p, ExceptionClass cls, Term value) {
  p.bif_action = BifAction::kRaise;
  p.exception_class = cls;
  p.exception_value = value;
  p.exception_trace = Term::nil();
  return kNonValue;
}
Term raise_badkey(Process& p, Term key) {
  Term* hp = p.heap.alloc(3);
  return raise_error(p, make_tuple(hp, atoms::badkey, key));
}
Term raise_badmap(Process& p, Term value) {
  Term* hp = p.heap.alloc(3);
  return raise_error(p, make_tuple(hp, atoms::badmap, value));
}

Term trap_to(Process& p, Export* target, std::initializer_list<Term> args) {
  Term* x = this_core()->x;
  for (Term t : args) *x++ = t;
  p.trap_target = target;
  p.bif_action = BifAction::kTrap;
  return kNonValue;
}

}  // namespace vmrun

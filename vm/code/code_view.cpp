#include "vm/process/code_view.hpp"

#include "vm/code/code_server.hpp"
#include "vm/code/exceptions.hpp"
#include "vm/code/module.hpp"
#include "vm/code/reclaim.hpp"

namespace vmrun {

FunctionName resume_function(const Process& p) {
  if (p.ip)
    if (const FunctionHeader* f = function_header_at(p.ip)) return {f->module, f->function, f->arity};
  return {p.initial_module, p.initial_function, p.initial_arity};
}

bool runs_old_code(const Process& p, Term module) {
  const Module* old = old_module(module);
  return old && is_inside(p, *old);
}

Term current_stacktrace(Process& p, Heap& out, unsigned depth) { return stack_frames(p, out, depth); }

}  // namespace vmrun

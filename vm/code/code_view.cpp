#include "vm/process/code_view.hpp"

#include "vm/code/exceptions.hpp"
#include "vm/code/module.hpp"

namespace vmrun {

FunctionName resume_function(const Process& p) {
  if (p.ip)
    if (const FunctionHeader* f = function_header_at(p.ip)) return {f->module, f->function, f->arity};
  return {p.initial_module, p.initial_function, p.initial_arity};
}

Term current_stacktrace(Process& p, Heap& out, unsigned depth) { return stack_frames(p, out, depth); }

}  // namespace vmrun

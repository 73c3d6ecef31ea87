#include "vm/process/code_view.hpp"

#include "vm/code/exceptions.hpp"
#include "vm/code/module.hpp"

namespace vmrun {

FunctionName function_at(const Word* ip) {
  const FunctionHeader* f = function_header_at(ip);
  if (!f) return {};
  return {f->module, f->function, f->arity};
}

Term current_stacktrace(Process& p, Heap& out, unsigned depth) { return stack_frames(p, out, depth); }

}  // namespace vmrun

#include "vm/process/roots.hpp"

#include "vm/process/process.hpp"

namespace vmrun {

void visit_roots(Process& p, RootSet& roots) {
  roots.add(p.group_leader);
  roots.add(p.exception_value);
  roots.add(p.exception_trace);
  if (p.live_saved) roots.add(p.saved_regs ? p.saved_regs : p.inline_regs, p.live_saved);
}

}  // namespace vmrun

#include "vm/process/process.hpp"
#include "vm/process/process_state.hpp"
#include "vm/sched/fiber.hpp"

namespace vmrun {

void visit_roots(Process& p, void (*visit)(void* context, Term* terms, std::size_t count), void* context) {
  visit(context, &p.group_leader, 1);
  visit(context, &p.exception_value, 1);
  visit(context, &p.exception_trace, 1);
  visit(context, &p.exit_reason, 1);
  if (p.fiber) visit_fiber_roots(*p.fiber, visit, context);
  Extra* extra = p.extra;
  if (!extra) return;
  visit(context, extra->dictionary.terms(), 2 * extra->dictionary.size());
  if (extra->pinned_messages)
    for (Fragment* f = p.mailbox.first; f; f = f->next)
      if (f->kind == static_cast<std::uint32_t>(SignalKind::kPinnedMessage)) visit(context, &f->message, 1);
}

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#include <cassert>
#include <cstddef>

#include "vm/process/dirty_job.hpp"
#include "vm/process/fiber.hpp"
#include "vm/process/trace_state.hpp"

namespace vmrun {

static_assert(offsetof(Fragment, token) == offsetof(Fragment, message) + sizeof(Term));

void visit_roots(Process& p, void (*visit)(void* context, Term* terms, std::size_t count), void* context) {
  assert(&p.group_leader == &p.parent + 1);
  visit(context, &p.parent, 2);  // and the group leader
  visit(context, &p.exception_value, 1);
  visit(context, &p.exception_trace, 1);
  visit(context, &p.exit_reason, 1);
  if (p.fiber) visit_fiber_roots(*p.fiber, visit, context);
  Extra* extra = p.extra;
  if (!extra) return;
  if (extra->dirty_job) visit_dirty_job(*extra->dirty_job, visit, context);
  visit(context, &extra->called_with, 1);
  visit(context, extra->dictionary.terms(), 2 * extra->dictionary.size());
  if (TraceState* c = extra->trace_state) {
    visit(context, &c->token.label, 1);
    visit(context, &c->token.from, 1);
    visit(context, &c->tag, 1);
  }
  if (extra->pinned_messages) {
    for (Fragment* f = inner_queue(p); f; f = f->next)
      if (f->kind == static_cast<std::uint32_t>(SignalKind::kPinnedMessage))
        visit(context, &f->message, 2);  // and its token
  }
}

}  // namespace vmrun

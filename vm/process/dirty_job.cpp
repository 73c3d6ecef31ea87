#include "vm/process/dirty_job.hpp"

#include <algorithm>

namespace vmrun {

constinit thread_local DirtyKind dirty_thread = DirtyKind::kNone;

Term run_elsewhere(Process& p, BifFn body, const Term* args, unsigned arity, DirtyKind kind) {
  assert(arity <= DirtyJob::kMaxArguments && dirty_thread == DirtyKind::kNone);
  DirtyJob*& job = extra_of(p).dirty_job;
  if (!job) {
    job = new DirtyJob{body, kind, arity, {}, {}};
    std::copy_n(args, arity, job->arguments);
    p.bif_action = BifAction::kElsewhere;
    return kNonValue;
  }
  assert(job->done && job->body == body);
  const Term result = job->result;
  if (!result) p.bif_action = BifAction::kRaise;
  abandon_dirty_job(p);
  return result;
}

void visit_dirty_job(DirtyJob& job, void (*visit)(void* context, Term* terms, std::size_t count),
                     void* context) {
  visit(context, job.arguments, job.arity);
  if (job.result) visit(context, &job.result, 1);
}

void abandon_dirty_job(Process& p) {
  if (!p.extra) return;
  delete p.extra->dirty_job;
  p.extra->dirty_job = nullptr;
}

}  // namespace vmrun

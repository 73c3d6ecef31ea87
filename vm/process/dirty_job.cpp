// SPDX-License-Identifier: Apache-2.0
#include "vm/process/dirty_job.hpp"

#include <algorithm>

#include "vm/process/core.hpp"
#include "vm/process/sampled.hpp"

namespace vmrun {

constinit thread_local DirtyKind dirty_thread = DirtyKind::kNone;
constinit thread_local Process* dirty_process = nullptr;

constinit thread_local volatile bool samples_wait = false;
constinit std::atomic<bool> processes_sampled{false};

Process* process_here() {
  const Core* core = this_core();
  return core ? core->current.load() : dirty_process;
}

namespace {

void give(Process& p, BifFn body, const Term* args, unsigned arity, DirtyKind kind) {
  assert(arity <= DirtyJob::kMaxArguments && dirty_thread == DirtyKind::kNone && !dirty_job_of(p));
  DirtyJob*& job = extra_of(p).dirty_job;
  job = new DirtyJob{body, kind, arity, {}, {}};
  std::copy_n(args, arity, job->arguments);
}

Term take_result(Process& p) {
  assert(came_back(p));
  const Term result = p.extra->dirty_job->result;
  if (!result) p.bif_action = BifAction::kRaise;
  abandon_dirty_job(p);
  return result;
}

}  // namespace

Term run_on_dirty(Process& p, BifFn body, const Term* args, unsigned arity, DirtyKind kind) {
  if (dirty_job_of(p)) {
    assert(dirty_job_of(p)->body == body);
    return take_result(p);
  }
  give(p, body, args, arity, kind);
  p.bif_action = BifAction::kDirty;
  return kNonValue;
}

Term run_on_dirty_handling_signals(Process& p, const FunctionName& name, BifFn body, const Term* args,
                                   unsigned arity, DirtyKind kind) {
  const bool is_new = !dirty_job_of(p);
  const Term result = run_on_dirty(p, body, args, arity, kind);
  if (is_new) {
    dirty_job_of(p)->name = name;
    dirty_job_of(p)->handles_signals = true;
  }
  return result;
}

Term continue_on_dirty(Process& p) {
  if (dirty_job_of(p)) return take_result(p);
  p.bif_action = BifAction::kDirty;
  return kNonValue;
}

void give_job(Process& p, BifFn body, const Term* args, unsigned arity) {
  if (!dirty_job_of(p)) give(p, body, args, arity, DirtyKind::kCpu);
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

#include "vm/nif/dirty.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "vm/base/adaptive_spin.hpp"
#include "vm/base/allocate.hpp"
#include "vm/base/epoch.hpp"
#include "vm/base/thread.hpp"
#include "vm/code/module.hpp"
#include "vm/code/native_call.hpp"
#include "vm/code/support.hpp"
#include "vm/heap/literal.hpp"
#include "vm/lifecycle/gc.hpp"
#include "vm/message/signal.hpp"
#include "vm/nif/library.hpp"
#include "vm/probes/fire.hpp"
#include "vm/process/code_view.hpp"
#include "vm/process/process_state.hpp"
#include "vm/sched/scheduler.hpp"
#include "vm/term/print.hpp"

namespace vmrun {

namespace {

/// A thread that has just become idle looks for work a little while before it sleeps: whoever has
/// some claims it without a system call.
struct Looking {
  std::atomic<bool> claimed{false};
  Looking* next;
};

/// Threads of one kind and the processes that wait for them, first come first served.
struct Pool {
  DirtyKind kind;
  unsigned limit;
  std::mutex mutex;
  std::condition_variable work;
  Process* first = nullptr;
  Process** last = &first;
  Looking* looking = nullptr;
  unsigned threads = 0, asleep = 0;
};
Pool cpu_pool{DirtyKind::kCpu, 0, {}, {}, nullptr, &cpu_pool.first, nullptr, 0, 0};
Pool io_pool{DirtyKind::kIo, 10, {}, {}, nullptr, &io_pool.first, nullptr, 0, 0};

const NifFunction& called(const Process& p) { return nif_functions[header_of_entry(p.ip)->nif]; }

void save(Process& p, const Term* terms, unsigned n) {
  if (p.saved_regs != p.inline_regs) free_bytes(p.saved_regs);
  p.saved_regs = n > Process::kInlineRegs
                     ? static_cast<Term*>(allocate_bytes(n * sizeof(Term), "saved registers"))
                     : p.inline_regs;
  std::memcpy(static_cast<void*>(p.saved_regs), terms, n * sizeof(Term));
  p.live_saved = static_cast<std::uint8_t>(n);
}

/// What the interpreter does after a call, done to the process at rest.
void settle(Process& p, Term result) {
  if (result.is_value()) {  // returns to the caller
    save(p, &result, 1);
    p.ip = reinterpret_cast<const Word*>(p.heap.stop->raw());
    ++p.heap.stop;
  } else if (p.bif_action == BifAction::kTrap) {
    p.ip = static_cast<const Export*>(p.trap_target)->address.load(std::memory_order_acquire);
  } else {
    extra_of(p).dirty_call_raised = true;  // runs the same instruction again, which raises
  }
}

/// Signals that have come; false when one of them ends the process.
bool lives_on(Process& p) {
  EpochGuard guard;
  look_at_leaving_literals();
  if (p.mailbox.has_arrivals()) handle_arrivals(p);
  return !p.exit_pending;
}

void collect_at_rest(Process& p, Word need) {
  if (collect(p, need, p.saved_regs, p.live_saved) >= 0) return;
  p.exit_pending = true;
  p.exit_reason = atoms::killed;
}
void collect_if_due(Process& p) {
  if (p.heap.gc_desired()) collect_at_rest(p, 0);
}

/// A process at work on this thread, for process-scheduled and process-unscheduled: both or none,
/// as of the beginning.
class Scheduled {
 public:
  explicit Scheduled(const Process& p) : p_(p), watched_(probe::slice_watched()) {
    if (!watched_ || !probe::process_scheduled_enabled()) [[likely]]
      return;
    EpochGuard guard;  // functions are found by their addresses
    const FunctionName f = resume_function(p);
    probe::fire_process_scheduled(p.id, {f.module, f.function, f.arity});
  }
  ~Scheduled() {
    if (watched_ && probe::process_unscheduled_enabled()) [[unlikely]]
      probe::fire_process_unscheduled(p_.id);
  }
  Scheduled(const Scheduled&) = delete;

 private:
  const Process& p_;
  const bool watched_;
};

void do_job(Process& p, DirtyJob& job) {
  const Scheduled scheduled(p);
  if (!job.body) {
    const Word need = job.need;
    abandon_dirty_job(p);
    return collect_at_rest(p, need);
  }
  const std::int32_t before = p.reductions;
  job.result = job.body(p, job.arguments);
  assert(job.result.is_value() || p.bif_action == BifAction::kRaise);
  job.done = true;
  p.reductions_done += static_cast<Word>(before - p.reductions);
  if (lives_on(p)) collect_if_due(p);
}

/// The interpreter calls the built-in function again, which takes the result.
void run_job(Process& p, DirtyJob& job) {
  if (!lives_on(p)) return make_runnable(p);  // killed while it waited for a thread
  do_job(p, job);
  make_runnable(p);
}

/// The library has been retained for this.
void run_nif(Process& p) {
  const NifFunction& f = called(p);
  if (!lives_on(p)) {  // killed while it waited for a thread
    release_library(f.library);
    return make_runnable(p);
  }
  if (probe::process_scheduled_enabled()) [[unlikely]]
    probe::fire_process_scheduled(p.id, {f.entry->module, f.entry->function, f.arity});
  if (probe::nif_entry_enabled()) [[unlikely]]
    trace_nif_entry(p, f);
  Term trap_arguments[256];
  ErlNifEnv env(&p, &p.heap, f.library);
  env.dirty = true;
  Term result =
      to_term(f.fn(&env, static_cast<int>(f.arity), reinterpret_cast<const ERL_NIF_TERM*>(p.saved_regs)));
  if (env.unfinished || !result.is_value()) result = finish_nif(env, f, result, trap_arguments);
  const bool stays = lives_on(p);
  if (stays && probe::nif_return_enabled()) [[unlikely]]
    trace_nif_return(p, f);
  if (stays) {
    if (!result.is_value() && p.bif_action == BifAction::kTrap)
      save(p, trap_arguments, static_cast<const Export*>(p.trap_target)->arity);
    settle(p, result);
    collect_if_due(p);
  }
  if (probe::process_unscheduled_enabled()) [[unlikely]]
    probe::fire_process_unscheduled(p.id);
  release_library(f.library);
  make_runnable(p);
}

/// Looks for work a while; true when somebody has put a process into the queue for this thread.
/// With the lock, which is let go meanwhile.
bool look_for_work(Pool& pool, AdaptiveSpin& spin, std::unique_lock<std::mutex>& lock) {
  Looking self;
  self.next = pool.looking;
  pool.looking = &self;
  lock.unlock();
  spin.until([&] { return self.claimed.load(std::memory_order_relaxed); });
  lock.lock();
  if (self.claimed.load(std::memory_order_relaxed)) return true;
  Looking** link = &pool.looking;
  while (*link != &self) link = &(*link)->next;
  *link = self.next;
  return false;
}

[[noreturn]] void run_thread(Pool& pool) {
  dirty_thread = pool.kind;
  AdaptiveSpin spin;
  std::unique_lock lock(pool.mutex);
  for (;;) {
    while (!pool.first) {
      if (look_for_work(pool, spin, lock)) continue;
      if (pool.first) break;
      ++pool.asleep;
      pool.work.wait(lock);
      --pool.asleep;
    }
    Process& p = *pool.first;
    pool.first = p.next_in_queue;
    if (!pool.first) pool.last = &pool.first;
    lock.unlock();
    if (DirtyJob* job = dirty_job_of(p)) run_job(p, *job);
    else run_nif(p);
    lock.lock();
  }
}

}  // namespace

void set_dirty_schedulers(unsigned cpu, unsigned io) {
  cpu_pool.limit = cpu;
  io_pool.limit = io;
}
unsigned dirty_cpu_schedulers() { return cpu_pool.limit ? cpu_pool.limit : scheduler_count(); }
unsigned dirty_io_schedulers() { return io_pool.limit; }

namespace {

Pool& pool_for(Process& p) {
  if (const DirtyJob* job = dirty_job_of(p)) return job->kind == DirtyKind::kIo ? io_pool : cpu_pool;
  const NifFunction& f = called(p);
  // Still in the slice: who unloads the library waits for that, and then the call, which may be a
  // long time in the queue, keeps it.
  retain_library(f.library);
  return f.flags == ERL_NIF_DIRTY_JOB_IO_BOUND ? io_pool : cpu_pool;
}

}  // namespace

void run_dirty(Process& p) {
  Pool& pool = pool_for(p);
  std::lock_guard lock(pool.mutex);
  p.next_in_queue = nullptr;
  *pool.last = &p;
  pool.last = &p.next_in_queue;
  if (Looking* idle = pool.looking) {
    pool.looking = idle->next;
    idle->claimed.store(true, std::memory_order_relaxed);  // both sides hold the lock when it matters
  } else if (pool.asleep) {
    pool.work.notify_one();
  } else if (pool.threads < (&pool == &cpu_pool ? dirty_cpu_schedulers() : pool.limit)) {
    const std::string name = std::to_string(++pool.threads) +
                             (&pool == &cpu_pool ? "_dirty_cpu_scheduler" : "_dirty_io_scheduler");
    start_needed_thread(name, [&pool] { run_thread(pool); }).detach();
  }
}

namespace {

[[maybe_unused]] const bool filled_in = (other_work.run_dirty = run_dirty, true);

}  // namespace

}  // namespace vmrun

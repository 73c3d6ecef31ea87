// SPDX-License-Identifier: Apache-2.0
#include "vm/nif/dirty.hpp"

#include <algorithm>
#include <atomic>
#include <boost/lockfree/queue.hpp>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "vm/base/adaptive_spin.hpp"
#include "vm/base/allocate.hpp"
#include "vm/base/clock.hpp"
#include "vm/base/epoch.hpp"
#include "vm/base/memory_trim.hpp"
#include "vm/base/microstate.hpp"
#include "vm/base/processors.hpp"
#include "vm/base/thread.hpp"
#include "vm/base/work_queue.hpp"
#include "vm/code/delaying_call.hpp"
#include "vm/code/function_probes.hpp"
#include "vm/code/instruction_support.hpp"
#include "vm/code/module.hpp"
#include "vm/code/native_call.hpp"
#include "vm/heap/literal.hpp"
#include "vm/lifecycle/answer.hpp"
#include "vm/lifecycle/gc.hpp"
#include "vm/message/deferred_decoding.hpp"
#include "vm/message/handle.hpp"
#include "vm/nif/nif_library.hpp"
#include "vm/probes/fire.hpp"
#include "vm/process/code_view.hpp"
#include "vm/process/dirty_state.hpp"
#include "vm/process/paths_enabled.hpp"
#include "vm/process/priority_boost.hpp"
#include "vm/process/process_state.hpp"
#include "vm/process/sampled.hpp"
#include "vm/sched/low_turn.hpp"
#include "vm/sched/online.hpp"
#include "vm/sched/run_queue_wait.hpp"
#include "vm/sched/scheduler.hpp"
#include "vm/sched/turns.hpp"
#include "vm/term/print.hpp"
#include "vm/trace/trace.hpp"

namespace vmrun {

namespace {

/// The processes that wait, by their priorities, which count here as in a run queue. A process that
/// comes while a thread looks for one may be missed: WorkQueue then finds the thread idle.
class WaitingProcesses {
 public:
  bool push(Process* p) {
    const unsigned priority = p->priority;
    count_[priority].fetch_add(1, std::memory_order_relaxed);
    return queues_[priority].push(p);
  }
  bool pop(Process*& p) {
    const bool low_first = is_turn_of_low();
    return pop(p, 3) || pop(p, 2) || pop(p, low_first ? 0 : 1) || pop(p, low_first ? 1 : 0);
  }

 private:
  bool pop(Process*& p, unsigned priority) {
    if (!queues_[priority].pop(p)) return false;
    count_[priority].fetch_sub(1, std::memory_order_relaxed);
    return true;
  }
  /// With several threads at work the share of low priority is right on average.
  bool is_turn_of_low() {
    const Word low = count_[0].load(std::memory_order_relaxed),
               normal = count_[1].load(std::memory_order_relaxed);
    if (!low || !normal) return low;
    Word credit = low_credit_.load(std::memory_order_relaxed);
    const bool is_turn = takes_low_turn(credit, low, normal);
    low_credit_.store(credit, std::memory_order_relaxed);
    return is_turn;
  }

  boost::lockfree::queue<Process*> queues_[4]{
      boost::lockfree::queue<Process*>(0), boost::lockfree::queue<Process*>(0),
      boost::lockfree::queue<Process*>(0), boost::lockfree::queue<Process*>(0)};
  std::atomic<Word> count_[4] = {}, low_credit_{0};
};

using DirtyQueue = WorkQueue<Process, WaitingProcesses>;

/// A thread, and the process that it runs.
struct DirtyThread {
  unsigned number = 0;  // 1…
  std::atomic<const Process*> runs{nullptr};
  std::atomic<bool> has_turn{false};  // turns.hpp
  Stopwatch busy_time;
  DirtyQueue::Worker worker;
  DirtyThread* next = nullptr;
};

/// The threads of one kind, and the processes that wait for them.
struct Pool {
  DirtyKind kind;
  std::atomic<unsigned> limit;   // 0: as many as there are schedulers
  std::atomic<unsigned> online;  // the first so many threads take work; 0: as many as schedulers are online
  DirtyQueue queue;
  std::atomic<unsigned> threads{0};
  std::atomic<unsigned> unfinished{0};     // processes that were handed over and are not done
  std::atomic<DirtyThread*> all{nullptr};  // the threads never end
};
// Never destroyed: threads may be busy while the machine ends.
Pool& cpu_pool = *new Pool{DirtyKind::kCpu, 0, 0, DirtyQueue(), {}, {}, {}};
Pool& io_pool = *new Pool{DirtyKind::kIo, 10, kMaxDirtySchedulers, DirtyQueue(), {}, {}, {}};

std::atomic<bool> held{false};  // whether no thread may begin anything

const NifFunction& called(const Process& p) { return nif_functions[header_of_entry(p.ip)->nif]; }

void save(Process& p, const Term* terms, unsigned n) {
  if (p.saved_regs != p.inline_regs) free_bytes(p.saved_regs);
  p.saved_regs = n > Process::kInlineRegs
                     ? static_cast<Term*>(allocate_bytes(n * sizeof(Term), "saved registers"))
                     : p.inline_regs;
  std::memcpy(static_cast<void*>(p.saved_regs), terms, n * sizeof(Term));
  p.live_saved = static_cast<std::uint8_t>(n);
}

/// Does what the interpreter does after a call, for a process that is not running.
void settle(Process& p, Term result) {
  if (result.is_value()) {  // returns to the caller
    if (!called(p).code) forget_noted_call(p);
    save(p, &result, 1);
    p.ip = reinterpret_cast<const Word*>(p.heap.stop->raw());
    ++p.heap.stop;
  } else if (p.bif_action == BifAction::kTrap) {
    p.ip = static_cast<const Export*>(p.trap_target)->address.load(std::memory_order_acquire);
    p.goes_on = Process::GoesOn::kFunction;
  } else {
    extra_of(p).dirty_call_raised = true;  // it runs this instruction again, which raises
  }
}

/// Handles the signals that have arrived. Returns false when one of them ends the process.
bool lives_on(Process& p) {
  EpochGuard guard;
  look_at_leaving_literals();
  if (p.mailbox.has_arrivals()) handle_arrivals(p);
  return !p.exit_pending;
}

void collect_at_rest(Process& p, Word need) {
  if (collect_now(p, need, p.saved_regs, p.live_saved) >= 0) return;
  p.exit_pending = true;
  p.exit_reason = atoms::killed;
}
void collect_if_due(Process& p) {
  if (p.heap.gc_desired()) collect_at_rest(p, 0);
}

/// A process that is running on this thread, for process-scheduled and process-unscheduled: both
/// fire or none, as decided at the beginning.
class Scheduled {
 public:
  explicit Scheduled(const Process& p) : p_(p), traced_(probe::slice_enabled()) {
    if (!traced_ || !probe::process_scheduled_enabled()) [[likely]]
      return;
    EpochGuard guard;  // functions are found by their addresses
    const FunctionName f = resume_function(p);
    probe::fire_process_scheduled(p.id, {f.module, f.function, f.arity});
  }
  ~Scheduled() {
    if (traced_ && probe::process_unscheduled_enabled()) [[unlikely]]
      probe::fire_process_unscheduled(p_.id);
  }
  Scheduled(const Scheduled&) = delete;

 private:
  const Process& p_;
  const bool traced_;
};

bool leave_dirty_between_turns(Process& p);

void do_job(Process& p, DirtyJob& job) {
  const Scheduled scheduled(p);
  const PathsEnabled paths(p);
  if (!job.body) {
    const Word need = job.need;
    abandon_dirty_job(p);
    return collect_at_rest(p, need);
  }
  const std::int32_t before = p.reductions;
  const bool handles_signals = job.handles_signals;
  if (handles_signals) enter_dirty(p, DirtyState::kRunning, make_runnable_again);
  job.result = job.body(p, job.arguments);
  assert(job.result.is_value() || p.bif_action == BifAction::kRaise);
  job.done = true;
  if (handles_signals && !leave_dirty_between_turns(p)) return;
  p.reductions_done += static_cast<Word>(before - p.reductions);
  if (lives_on(p)) collect_if_due(p);
}

thread_local DirtyThread* this_thread = nullptr;

/// This thread does not run a process any more; await_turn waits for that.
void tell_stopped(DirtyThread& self) {
  self.runs.store(nullptr, std::memory_order_seq_cst);
  if (turns_are_taken()) [[unlikely]]
    self.runs.notify_all();
}

/// p may run in another thread from then on, and may ask what dirty schedulers run, or count what
/// processes at rest refer to: this thread must not name p then. Nor may a profiler whose signal
/// interrupts this thread take p for this thread's process.
void let_go_of(Process& p) {
  tell_stopped(*this_thread);
  dirty_process = nullptr;
  std::atomic_signal_fence(std::memory_order_release);
  make_runnable_again(p);
}

/// Runs the job. The interpreter then calls the built-in function again, which takes the result.
void run_job(Process& p, DirtyJob& job) {
  if (!lives_on(p)) return let_go_of(p);  // killed while it waited for a thread
  do_job(p, job);
  let_go_of(p);
}

/// Runs a native function. The library has been retained for it.
void run_nif(Process& p) {
  const NifFunction& f = called(p);
  if (!lives_on(p)) {  // killed while it waited for a thread
    release_library(f.library);
    return let_go_of(p);
  }
  if (probe::process_scheduled_enabled()) [[unlikely]]
    probe::fire_process_scheduled(p.id, {f.entry->module, f.entry->function, f.arity});
  if (probe::nif_entry_enabled()) [[unlikely]]
    trace_nif_entry(p, f);
  Term trap_arguments[256];
  ErlNifEnv env(&p, &p.heap, f.library);
  env.dirty = true;
  bool stays = true;
  if (is_traced(p, kTraceAll)) [[unlikely]]
    trace_running(p, true);
  const auto run = [&] {
    const PathsEnabled paths(p);
    const DelayingCall call(f.delays_halt);
    enter_dirty(p, DirtyState::kRunning, make_runnable_again);
    const Term result =
        to_term(f.fn(&env, static_cast<int>(f.arity), reinterpret_cast<const ERL_NIF_TERM*>(p.saved_regs)));
    stays = leave_dirty_between_turns(p);
    return env.unfinished || !result.is_value() ? finish_nif(env, f, result, trap_arguments) : result;
  };
  const Term result = run();
  if (stays && is_traced(p, kTraceAll)) [[unlikely]]
    trace_running(p, false);
  stays = stays && lives_on(p);
  if (stays && (probe::nif_return_enabled() || is_traced(p, kTraceCall | kAwaitsReturns))) [[unlikely]] {
    const EpochGuard guard;
    trace_nif_return(p, f, result);
  }
  if (stays) {
    if (!result.is_value() && p.bif_action == BifAction::kTrap)
      save(p, trap_arguments, static_cast<const Export*>(p.trap_target)->arity);
    settle(p, result);
    collect_if_due(p);
  }
  if (probe::process_unscheduled_enabled()) [[unlikely]]
    probe::fire_process_unscheduled(p.id);
  release_library(f.library);
  let_go_of(p);
}

/// Whether p, which a scheduler sends here, comes for native code or a built-in function: then
/// schedulers handle its signals while it waits. Other work is a step of what schedulers do with a
/// process, which may wait for something else.
bool waits_with_signals(const Process& p) {
  if (p.extra && p.extra->other_dirty_work != OtherDirtyWork::kNone) return false;
  const DirtyJob* const job = dirty_job_of(p);
  return !job || job->body;
}

/// The calling thread has taken p from the queue, and owns it from here on.
struct Taken {
  Scheduler* home;  // where p was
  bool lives;       // false: it has ended while it waited
};
Taken take_over_queued(Process& p, QueueOf queue) {
  if (!is_with_dirty(p)) {
    end_wait(p, queue);
    return {static_cast<Scheduler*>(p.scheduler.load()), true};
  }
  end_dirty_wait(p, queue);
  const bool lives = leave_dirty_between_turns(p);
  if (!lives && !dirty_job_of(p)) release_library(called(p).library);
  return {static_cast<Scheduler*>(std::exchange(p.extra->sent_by, nullptr)), lives};
}

/// Decodes; no code of the program runs.
void run_decoding(Process& p) {
  p.extra->other_dirty_work = OtherDirtyWork::kNone;
  decode_first_deferred(p);
  let_go_of(p);
}

/// Answers the first request that waits; a scheduler answers the others.
void run_answering(Process& p) {
  answer_first(p);
  p.deferred_requests |= is_boosted(p);
  let_go_of(p);
}

void start_thread_within_limit(Pool& pool);

/// The process is about to run. If dirty schedulers are held, it waits until they are not, and if
/// turns are taken, for its turn. Dekker's rule, all sequentially consistent: either this thread
/// sees that they are held, or that turns are taken, or the thread that has decided so sees that p
/// runs.
void begin(DirtyThread& self, const Process& p) {
  for (;;) {
    if (turns_are_taken() && !self.has_turn.load(std::memory_order_relaxed)) [[unlikely]]
      self.has_turn.store(begin_turn(dirty_thread), std::memory_order_seq_cst);
    self.runs.store(&p, std::memory_order_seq_cst);
    if (!held.load(std::memory_order_seq_cst) &&
        (!turns_are_taken() || self.has_turn.load(std::memory_order_relaxed))) [[likely]]
      return self.busy_time.start(monotonic_ns());
    tell_stopped(self);
    held.wait(true, std::memory_order_seq_cst);
  }
}

void end(DirtyThread& self) {
  self.busy_time.stop(monotonic_ns());
  tell_stopped(self);
  if (self.has_turn.load(std::memory_order_relaxed)) [[unlikely]] {
    self.has_turn.store(false, std::memory_order_seq_cst);
    end_turn();
  }
}

/// As leave_dirty. A scheduler may have to let go of p first, which it does in a turn of its own.
bool leave_dirty_between_turns(Process& p) {
  DirtyThread& self = *this_thread;
  if (!self.has_turn.load(std::memory_order_relaxed)) [[likely]]
    return leave_dirty(p);
  end(self);
  const bool lives = leave_dirty(p);
  begin(self, p);
  return lives;
}

// A thread with a number above those that are online begins nothing. When it sleeps it is still
// called for work. It puts that work back, for another thread, and waits until it is online.

bool is_online(const Pool& pool, unsigned number) {
  const unsigned online = pool.online.load(std::memory_order_relaxed);
  return !online || number <= online;
}

void wait_until_online(const Pool& pool, unsigned number) {
  if (is_online(pool, number)) return;
  const InMicrostate asleep(Microstate::kSleep);
  for (unsigned online; (online = pool.online.load(std::memory_order_relaxed)) && number > online;)
    pool.online.wait(online, std::memory_order_relaxed);
}

QueueOf queue_of(const Pool& pool) {
  return pool.kind == DirtyKind::kIo ? QueueOf::kDirtyIo : QueueOf::kDirtyCpu;
}

[[noreturn]] void run_thread(Pool& pool, unsigned number) {
  dirty_thread = pool.kind;
  DirtyThread& self = *new DirtyThread;
  this_thread = &self;
  self.number = number;
  self.next = pool.all.load(std::memory_order_relaxed);
  while (!pool.all.compare_exchange_weak(self.next, &self, std::memory_order_release)) {}
  pool.queue.join(self.worker);
  account_for_this_thread(pool.kind == DirtyKind::kIo ? ThreadKind::kDirtyIo : ThreadKind::kDirtyCpu, number);
  AdaptiveSpin spin;
  MemoryTrimmer trimmer;
  trimmer.join([&self] { self.worker.wake(); });
  const auto look = [&](auto&& there) { return spin.until(there); };
  const auto sleep = [&](auto& parker, auto&& there) {
    const InMicrostate asleep(Microstate::kSleep);
    trimmer.park(parker, there);
  };
  for (;;) {
    wait_until_online(pool, number);
    Process& p = pool.queue.take(self.worker, look, sleep, [&] { start_thread_within_limit(pool); });
    if (!is_online(pool, number)) [[unlikely]] {
      pool.queue.push(p, [&] { start_thread_within_limit(pool); });
      continue;
    }
    begin(self, p);
    const auto [home, lives] = take_over_queued(p, queue_of(pool));
    dirty_process = &p;
    if (processes_sampled.load(std::memory_order_relaxed)) [[unlikely]]
      note_sampled_process(p);
    if (!lives) {
      let_go_of(p);
    } else {
      const InMicrostate runs(Microstate::kEmulator);
      const auto other = p.extra ? p.extra->other_dirty_work : OtherDirtyWork::kNone;
      if (other == OtherDirtyWork::kDecode) run_decoding(p);
      else if (other == OtherDirtyWork::kAnswer) run_answering(p);
      else if (DirtyJob* job = dirty_job_of(p)) run_job(p, *job);
      else run_nif(p);
    }
    if (home) home->work_away.fetch_sub(1, std::memory_order_relaxed);
    end(self);
    pool.unfinished.fetch_sub(1, std::memory_order_relaxed);
  }
}

void start_thread_within_limit(Pool& pool) {
  const unsigned online = pool.online.load(std::memory_order_relaxed);
  const unsigned most = pool.limit.load(std::memory_order_relaxed),
                 limit = online ? std::min(online, most) : most;
  unsigned n = pool.threads.load(std::memory_order_relaxed);
  do {
    if (n >= limit) return;
  } while (!pool.threads.compare_exchange_weak(n, n + 1, std::memory_order_relaxed));
  start_needed_thread(
      std::to_string(n + 1) + (&pool == &cpu_pool ? "_dirty_cpu_scheduler" : "_dirty_io_scheduler"),
      [&pool, n] { run_thread(pool, n + 1); })
      .detach();
}

}  // namespace

void set_dirty_schedulers(unsigned cpu, unsigned cpu_online, unsigned io) {
  cpu_pool.limit = cpu;
  cpu_pool.online = cpu_online;
  io_pool.limit = io;
}
unsigned dirty_cpu_schedulers() {
  const unsigned limit = cpu_pool.limit.load(std::memory_order_relaxed);
  return limit ? limit : std::min(scheduler_count(), processors().configured);
}
unsigned dirty_io_schedulers() { return io_pool.limit; }

unsigned dirty_cpu_schedulers_online() {
  const unsigned online = cpu_pool.online.load(std::memory_order_relaxed);
  return std::min(dirty_cpu_schedulers(), online ? online : schedulers_online());
}
void set_dirty_cpu_schedulers_online(unsigned n) {
  cpu_pool.online.store(n, std::memory_order_relaxed);
  cpu_pool.online.notify_all();
  // Waiting work may need a thread that has not been started: each thread that is started starts
  // the next one if necessary.
  if (cpu_pool.threads.load(std::memory_order_relaxed)) start_thread_within_limit(cpu_pool);
}

namespace {

Pool& pool_of(DirtyKind kind) { return kind == DirtyKind::kIo ? io_pool : cpu_pool; }

}  // namespace

DirtyLoad dirty_load(DirtyKind kind) {
  const Pool& pool = pool_of(kind);
  const unsigned unfinished = pool.unfinished.load(std::memory_order_relaxed);
  unsigned running = 0;
  for (const DirtyThread* t = pool.all.load(std::memory_order_acquire); t; t = t->next)
    running += t->runs.load(std::memory_order_relaxed) != nullptr;
  return {unfinished > running ? unfinished - running : 0, running};
}

std::vector<Stopwatch::Reading> dirty_busy_times(DirtyKind kind) {
  std::vector<Stopwatch::Reading> times;
  for (const DirtyThread* t = pool_of(kind).all.load(std::memory_order_acquire); t; t = t->next) {
    if (times.size() < t->number) times.resize(t->number, {.at_ns = monotonic_ns()});
    times[t->number - 1] = t->busy_time.read();
  }
  return times;
}

namespace {

Pool& pool_for(Process& p) {
  if (p.extra && p.extra->other_dirty_work != OtherDirtyWork::kNone) return cpu_pool;
  if (const DirtyJob* job = dirty_job_of(p)) return job->kind == DirtyKind::kIo ? io_pool : cpu_pool;
  const NifFunction& f = called(p);
  // This is still in the slice. A thread that unloads the library waits for the slice's end.
  // Afterwards the call itself, which may be in the queue for a long time, keeps the library.
  retain_library(f.library);
  return f.flags == ERL_NIF_DIRTY_JOB_IO_BOUND ? io_pool : cpu_pool;
}

}  // namespace

void run_dirty(Process& p) {
  Pool& pool = pool_for(p);
  // A dirty thread must not ask for the number of schedulers later: they may have ended.
  if (&pool == &cpu_pool && !pool.limit.load(std::memory_order_relaxed)) [[unlikely]]
    pool.limit.store(dirty_cpu_schedulers(), std::memory_order_relaxed);
  pool.unfinished.fetch_add(1, std::memory_order_relaxed);
  auto* const home = static_cast<Scheduler*>(p.scheduler.load());
  if (home) home->work_away.fetch_add(1, std::memory_order_relaxed);
  if (waits_with_signals(p)) {
    extra_of(p).sent_by = home;
    begin_dirty_wait(p, queue_of(pool));
    enter_dirty(p, DirtyState::kQueued, make_runnable_again);
  } else {
    begin_wait(p, queue_of(pool));
  }
  pool.queue.push(p, [&] { start_thread_within_limit(pool); });  // p belongs to another thread from here on
}

DirtyStop::DirtyStop() { held.store(true, std::memory_order_seq_cst); }
DirtyStop::~DirtyStop() {
  held.store(false, std::memory_order_seq_cst);
  held.notify_all();
}

void await_turn() {
  DirtyThread& self = *this_thread;
  const Process& p = *self.runs.load(std::memory_order_relaxed);
  end(self);
  for (const Pool* pool : {&cpu_pool, &io_pool})
    for (const DirtyThread* t = pool->all.load(std::memory_order_acquire); t && turns_are_taken();
         t = t->next)
      while (const Process* q = t->runs.load(std::memory_order_seq_cst)) {
        if (t->has_turn.load(std::memory_order_seq_cst)) break;
        t->runs.wait(q, std::memory_order_seq_cst);
      }
  begin(self, p);
}

void for_each_dirty_scheduler(const std::function<void(DirtyKind, unsigned number, const Process*)>& visit) {
  for (const Pool* pool : {&cpu_pool, &io_pool}) {
    const unsigned before = pool == &cpu_pool ? 0 : dirty_cpu_schedulers();
    for (const DirtyThread* t = pool->all.load(std::memory_order_acquire); t; t = t->next)
      visit(pool->kind, before + t->number, t->runs.load(std::memory_order_seq_cst));
  }
}

}  // namespace vmrun

#include "vm/sched/scheduler.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "probes/probes.hpp"
#include "vm/base/clock.hpp"
#include "vm/base/thread.hpp"
#include "vm/code/interpreter.hpp"
#include "vm/heap/gc.hpp"
#include "vm/heap/literal.hpp"
#include "vm/message/request.hpp"
#include "vm/message/send.hpp"
#include "vm/message/signal.hpp"
#include "vm/nif/dirty.hpp"
#include "vm/port/poll.hpp"
#include "vm/port/port.hpp"
#include "vm/port/signals.hpp"
#include "vm/port/task.hpp"
#include "vm/process/code_view.hpp"
#include "vm/process/exit.hpp"
#include "vm/process/registry.hpp"
#include "vm/process/spawn.hpp"
#include "vm/process/table.hpp"
#include "vm/term/print.hpp"
#include "vm/trace/trace.hpp"

/// How schedulers share work. A run queue is its scheduler's alone: queueing and picking take no
/// lock and no atomic operation. Whoever makes a process runnable puts it on its own queue: what
/// two processes say to each other is in that core's cache anyway. Work moves when there is too
/// much of it: between two slices a scheduler on whose queue processes have waited for a slice's
/// worth of reductions, and which sees an idle one, hands over half through that one's inbox and
/// wakes it; nobody else tries to, because claiming an idle scheduler clears its flag. A scheduler
/// with nothing to do spins for some microseconds, then sleeps on a futex until work or its next
/// timer comes; one of them waits for descriptors instead (poll.hpp).
namespace vmrun {

thread_local Scheduler* current_scheduler = nullptr;

namespace {

constexpr std::int32_t kUpkeepReductions = 4000;
constexpr std::int32_t kLeastSlice =
    2;  // with one, a process would give up the core at its first call, for ever
constexpr std::int32_t kSwitchCost = 20;  // what changing to another process counts, in reductions
constexpr std::int32_t kWaitedBeforeSharing = 4000;
constexpr unsigned kSpins = 200;
constexpr unsigned kLowEvery = 8;                    // a low-priority process runs after as many normal ones
constexpr std::chrono::milliseconds kPatience{100};  // with slices that have begun when the machine ends

SchedulerOptions options{0, kSliceReductions, false, 0, nullptr};
std::vector<std::unique_ptr<Scheduler>> schedulers;
std::vector<std::thread> threads;
std::atomic<bool> stopping{false};
alignas(64) std::atomic<int> idle_schedulers{0};
Inbox<Process, &Process::next_in_queue> boot_inbox;  // made runnable before there was a scheduler

// ---- Sleeping and waking ------------------------------------------------------------------------

void wake(Scheduler& s) {
  if (s.parker.wake() == Parker::kElsewhere) poll_interrupt();
}

bool has_mail(const Scheduler& s) {
  return s.inbox.has_mail() || s.port_inbox.has_mail() || stopping.load(std::memory_order_relaxed);
}

/// Returns when there is mail, a timer is due, or the VM stops; or with true when descriptors are
/// ready: then the poller's role is still ours. polls: it is ours already.
[[nodiscard]] bool sleep(Scheduler& s, bool polls) {
  const Word tick = s.timers.next_tick();
  while (!has_mail(s)) {
    SWord left = -1;
    if (tick != ~Word{0}) {
      left = static_cast<SWord>(tick * 1'000'000 - monotonic_ns());
      if (left <= 0) break;
    }
    if (!polls) polls = poll_wanted() && poll_claim();
    bool ready = false;
    const auto mail = [&] { return has_mail(s); };
    if (polls) s.parker.park_elsewhere(mail, [&] { ready = poll_wait(left); });
    else s.parker.park(mail, left);
    if (ready) return true;
  }
  if (polls) poll_leave();
  return false;
}

// ---- Run queue ----------------------------------------------------------------------------------

void enqueue(Scheduler& s, Process& p) {
  s.queues[p.priority].push(p);
  ++s.runnable;
}

void take_inbox(Scheduler& s) {
  Process* p = s.inbox.take();
  while (p) {
    Process* next = p->next_in_queue;
    enqueue(s, *p);
    p = next;
  }
}

void take_port_inbox(Scheduler& s) {
  Port* p = s.port_inbox.take();
  while (p) {
    Port* next = p->next_in_queue;
    s.ports.push(*p);
    p = next;
  }
}

std::uint64_t next_random(std::uint64_t& state) {  // xorshift64*
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return state * 0x2545F4914F6CDD1Du;
}

RunList& queue_to_run(Scheduler& s) {
  if (s.queues[3].count) return s.queues[3];
  if (s.queues[2].count) return s.queues[2];
  if (s.queues[0].count && (!s.queues[1].count || ++s.low_passed_over >= kLowEvery)) {
    s.low_passed_over = 0;
    return s.queues[0];
  }
  return s.queues[1];
}

Process& pick(Scheduler& s) {
  RunList& queue = queue_to_run(s);
  if (options.random) [[unlikely]]
    for (std::uint64_t skip = next_random(s.random_state) % (queue.count < 8 ? queue.count : 8); skip; --skip)
      queue.push(queue.pop());
  --s.runnable;
  return queue.pop();
}

/// Half of what waits here goes to `to`, best of it first.
void hand_over(Scheduler& s, Scheduler& to, unsigned count) {
  for (int priority = 3; priority >= 0 && count; --priority)
    for (; s.queues[priority].count && count; --count) {
      --s.runnable;
      to.inbox.push(s.queues[priority].pop());
    }
  wake(to);
}

void hand_over_ports(Scheduler& s, Scheduler& to, unsigned count) {
  for (; count; --count) {
    Port& p = s.ports.pop();
    to.port_inbox.push(p);
  }
}

void share_with_idle(Scheduler& s) {
  for (auto& other : schedulers) {
    if (!other->idle.load(std::memory_order_relaxed) ||
        !other->idle.exchange(false, std::memory_order_acq_rel))
      continue;
    idle_schedulers.fetch_sub(1, std::memory_order_relaxed);
    if (s.ports.count) hand_over_ports(s, *other, (s.ports.count + (s.runnable ? 1 : 0)) / 2);
    hand_over(s, *other, s.runnable / 2);
    break;
  }
  s.others_waited = 0;
}

/// Evens out queues of busy schedulers: rarely, and only gross differences.
void balance(Scheduler& s) {
  if (s.runnable < 8) return;
  for (auto& other : schedulers) {
    const unsigned there = other->queue_length.load(std::memory_order_relaxed);
    if (other.get() == &s || 2 * there + 4 >= s.runnable || !other->inbox.seems_empty()) continue;
    hand_over(s, *other, (s.runnable - there) / 2);
    return;
  }
}

// ---- Memory of the dead -------------------------------------------------------------------------

void reclaim(Scheduler& s) {
  s.retired.reclaim([](Process& p) { recycle_process(&p); });
}

void retire(Scheduler& s, Process& p) {
  s.retired.retire(p);
  if (!s.retired.batch_is_full()) return;
  reclaim(s);
  s.retired.stamp();
}

// ---- Timers -------------------------------------------------------------------------------------

void fire_timer(const TimerWheel::Expired& expired) {
  if (expired.message) {
    const Term pid = expired.target.is_atom() ? whereis(expired.target) : expired.target;
    if (pid) send_from_vm(pid, expired.message);
    else Fragment::destroy(expired.message);
  } else if (expired.target.is_local_port()) {
    port_timer_fired(expired.target);
  } else if (Process* p = process_table.find(expired.target)) {
    if (p->mailbox.notify()) make_runnable(*p);
  }
}

void keep_up(Scheduler& s) {
  s.until_upkeep = kUpkeepReductions;
  if (!s.timers.empty()) s.timers.advance(monotonic_tick(), fire_timer);
  s.queue_length.store(s.runnable, std::memory_order_relaxed);
  balance(s);
  reclaim(s);
  reclaim_ports();
  if (poll_wanted()) [[unlikely]]
    poll_now_and_then();
}

// ---- Running ------------------------------------------------------------------------------------

void fire_scheduled(Process& p) {
  const FunctionName f = resume_function(p);
  probe::process_scheduled(PidText(p.id), MfaText(f.module, f.function, f.arity));
}

/// Whether a process that was woken has something to do. Otherwise a signal was all.
bool has_reason_to_run(const Process& p) {
  switch (p.wait_kind) {
    case WaitKind::kNone: return true;
    case WaitKind::kReceive:
      return p.mailbox.unseen() ||
             (p.receive_timer && p.receive_timer->fired.load(std::memory_order_acquire));
    case WaitKind::kSuspended: return p.resume_requested;
  }
  return true;
}

/// Gives up the core if nothing has arrived meanwhile. The process must not be touched after that.
void park(Scheduler& s, Process& p) {
  if (!p.mailbox.park()) enqueue(s, p);
}

/// A process that has exited, or a piece of its end is done.
void retire_or_go_on(Scheduler& s, Process& p) {
  if (is_ending(p)) [[unlikely]]
    enqueue(s, p);
  else retire(s, p);
}

void end_by_signal(Scheduler& s, Process& p) {
  if (probe::process_scheduled_enabled()) [[unlikely]]
    probe::process_scheduled(PidText(p.id), "<exiting>");
  if (is_traced(p, kTraceExiting)) [[unlikely]]
    trace_running(p, true, true);
  exit_process(p, p.exit_reason, false);
  if (probe::process_unscheduled_enabled()) [[unlikely]]
    probe::process_unscheduled(PidText(p.id));
  s.current = nullptr;
  retire_or_go_on(s, p);
}

void collect_scheduled_out(Process& p) {
  if (collect(p, 0, p.saved_regs, p.live_saved) >= 0) return;
  p.exit_pending = true;
  p.exit_reason = atoms::killed;
}

/// Signals and questions; true when the process is to run now.
bool prepare(Scheduler& s, Process& p) {
  if (p.mailbox.has_arrivals()) {
    if (p.mailbox.is_closed()) [[unlikely]] {  // which counts as one with arrivals
      end_more(p);
      s.until_upkeep -= kSliceReductions / 4;
      s.others_waited += s.runnable ? kSliceReductions / 4 : 0;
      retire_or_go_on(s, p);
      return false;
    }
    handle_arrivals(p);
  }
  if (p.deferred_requests && !p.exit_pending) [[unlikely]]
    answer_deferred(p);
  if (p.exit_pending) [[unlikely]] {
    end_by_signal(s, p);
    return false;
  }
  if (p.suspend_count == 0 && has_reason_to_run(p)) return true;
  park(s, p);
  return false;
}

std::int32_t slice_length(Scheduler& s) {
  if (options.random) [[unlikely]]
    return kLeastSlice +
           static_cast<std::int32_t>(next_random(s.random_state) % static_cast<std::uint64_t>(options.slice));
  return options.slice;
}

/// A slice that someone looks at, as of its start: so every process-unscheduled has its
/// process-scheduled.
[[gnu::cold, gnu::noinline]] RunResult run_watched(Scheduler& s, Process& p) {
  if (probe::process_scheduled_enabled()) fire_scheduled(p);
  trace_running(p, true, false);
  s.traced = probe::calls_watched() || is_traced(p, kTraceCall);
  const RunResult result = options.run(s, p);
  s.traced = false;
  if (result != RunResult::kExited) trace_running(p, false, false);
  if (probe::process_unscheduled_enabled()) probe::process_unscheduled(PidText(p.id));
  return result;
}

void run_slice(Scheduler& s, Process& p) {
  s.current = &p;
  p.scheduler = &s;
  look_at_leaving_literals();
  if (!prepare(s, p)) {
    s.current = nullptr;
    s.until_upkeep -= kSwitchCost;
    return;
  }
  p.wait_kind = WaitKind::kNone;
  p.resume_requested = false;
  const std::int32_t slice = s.slice = slice_length(s);
  p.reductions = slice;

  const RunResult result = probe::slice_watched() || probe::calls_watched() || is_traced(p, kTraceAll)
                               ? run_watched(s, p)
                               : options.run(s, p);

  const std::int32_t used = slice - p.reductions;
  p.reductions_done += static_cast<Word>(used);
  s.reductions_done.store(s.reductions_done.load(std::memory_order_relaxed) + static_cast<Word>(used),
                          std::memory_order_relaxed);
  s.slices.store(s.slices.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  s.until_upkeep -= used + kSwitchCost;
  s.others_waited = s.runnable ? s.others_waited + used + kSwitchCost : 0;
  s.current = nullptr;

  if (result == RunResult::kExited) return retire_or_go_on(s, p);
  if (result == RunResult::kDirty) return run_dirty(p);
  if (p.heap.gc_desired()) [[unlikely]] {
    if (long_collection(p)) {
      // Whether it has reason to run is asked when it comes back.
      if (result != RunResult::kYielded)
        p.wait_kind = result == RunResult::kWaiting ? WaitKind::kReceive : WaitKind::kSuspended;
      collect_on_dirty(p, 0);
      return run_dirty(p);
    }
    collect_scheduled_out(p);
  }
  switch (result) {
    case RunResult::kYielded: enqueue(s, p); break;
    case RunResult::kWaiting:
    case RunResult::kSuspended:
      p.wait_kind = result == RunResult::kWaiting ? WaitKind::kReceive : WaitKind::kSuspended;
      // What is there already, or must be answered, is dealt with when it comes round again. (A
      // message can lie in the inner queue unseen after hibernate.)
      if (p.exit_pending || p.deferred_requests || p.resume_requested ||
          (p.wait_kind == WaitKind::kReceive && p.mailbox.unseen()))
        enqueue(s, p);
      else park(s, p);
      break;
    case RunResult::kExited:
    case RunResult::kDirty: break;
  }
}

/// What other threads handed over, then a turn of the first port: between two slices, so that
/// neither ports nor processes starve the others.
void serve_ports(Scheduler& s) {
  if (!s.port_inbox.seems_empty()) take_port_inbox(s);
  if (!s.ports.count) return;
  Port& p = s.ports.pop();
  const std::int32_t used = run_port(p) + kSwitchCost;
  s.until_upkeep -= used;
  s.others_waited = s.runnable || s.ports.count ? s.others_waited + used : 0;
}

void wait_for_work(Scheduler& s) {
  s.queue_length.store(0, std::memory_order_relaxed);
  reclaim(s);
  s.retired.stamp();
  epoch_leave(*s.epoch);
  s.idle.store(true, std::memory_order_seq_cst);
  idle_schedulers.fetch_add(1, std::memory_order_relaxed);
  // Who waits for descriptors does so at once; the others look around a little before they sleep.
  const bool expects_job = s.async_jobs.load(std::memory_order_relaxed) != 0;
  const bool polls = !expects_job && poll_wanted() && poll_claim();
  if (expects_job) (void)s.job_spin.until([&] { return has_mail(s); });
  else
    for (unsigned i = schedulers.size() > 1 && !polls ? kSpins : 0; i && !has_mail(s); --i) cpu_relax();
  const bool ready = sleep(s, polls);
  if (s.idle.exchange(false, std::memory_order_acq_rel))
    idle_schedulers.fetch_sub(1, std::memory_order_relaxed);
  epoch_enter(*s.epoch);
  if (ready) poll_dispatch();
  s.until_upkeep = 0;
}

// ---- Halt ---------------------------------------------------------------------------------------

std::mutex halt_mutex;
std::condition_variable halt_condition;
bool halt_requested = false;
HaltRequest halt_request{};
std::atomic<bool> processes_held{false};

void tell_held(Scheduler& s) {
  if (s.holds_processes.exchange(true, std::memory_order_seq_cst)) return;
  std::lock_guard guard(halt_mutex);
  halt_condition.notify_all();
}

// ---- The loop -----------------------------------------------------------------------------------

void run(Scheduler& s) {
  current_scheduler = &s;
  s.epoch = &epoch_slot();
  epoch_enter(*s.epoch);
  while (!stopping.load(std::memory_order_relaxed)) {
    epoch_quiescent(*s.epoch);
    if (!s.inbox.seems_empty()) take_inbox(s);
    if (s.until_upkeep <= 0) keep_up(s);
    if (!s.port_inbox.seems_empty() || s.ports.count) [[unlikely]]
      serve_ports(s);
    if (!s.runnable || processes_held.load(std::memory_order_relaxed)) {
      if (processes_held.load(std::memory_order_relaxed)) [[unlikely]]
        tell_held(s);
      if (!s.ports.count) wait_for_work(s);
      continue;
    }
    run_slice(s, pick(s));
    if (s.runnable + s.ports.count >= 2 && s.others_waited >= kWaitedBeforeSharing &&
        idle_schedulers.load(std::memory_order_relaxed) > 0)
      share_with_idle(s);
  }
  epoch_leave(*s.epoch);
  current_scheduler = nullptr;
}

}  // namespace

void make_runnable(Process& p) {
  if (Scheduler* s = this_scheduler()) [[likely]]
    return enqueue(*s, p);
  if (schedulers.empty()) return (void)boot_inbox.push(p);
  Scheduler& s = p.scheduler ? *p.scheduler : *schedulers[0];
  s.inbox.push(p);
  wake(s);
}

void make_runnable(Port& p, Scheduler* on) {
  Scheduler* here = this_scheduler();
  if (here && (!on || on == here)) return here->ports.push(p);
  Scheduler* last = p.scheduler.load(std::memory_order_relaxed);
  Scheduler& s = on ? *on : last ? *last : *schedulers[0];
  s.port_inbox.push(p);
  wake(s);
}

void PortList::push(Port& p) {
  p.next_in_queue = nullptr;
  (last ? last->next_in_queue : first) = &p;
  last = &p;
  ++count;
}

Port& PortList::pop() {
  Port& p = *first;
  first = p.next_in_queue;
  if (!first) last = nullptr;
  --count;
  return p;
}

void start_schedulers(const SchedulerOptions& wanted) {
  options = wanted;
  if (options.slice < kLeastSlice) options.slice = kLeastSlice;
  unsigned count = wanted.schedulers ? wanted.schedulers : std::thread::hardware_concurrency();
  if (count == 0) count = 1;
  if (count > kMaxSchedulers) count = kMaxSchedulers;
  stopping.store(false);
  for (unsigned i = 0; i < count; ++i) {
    schedulers.push_back(std::make_unique<Scheduler>(i + 1));
    schedulers[i]->random_state = (wanted.seed + i + 1) * 0x9E3779B97F4A7C15u | 1;
  }
  for (Process* p = boot_inbox.take(); p;) {
    Process* next = p->next_in_queue;
    schedulers[0]->inbox.push(*p);
    p = next;
  }
  for (auto& s : schedulers)
    threads.push_back(start_needed_thread(std::to_string(s->number) + "_scheduler", [&s] { run(*s); }));
}

void stop_schedulers() {
  stopping.store(true);
  for (auto& s : schedulers) wake(*s);
  for (std::thread& t : threads) t.join();
  threads.clear();
  schedulers.clear();
  idle_schedulers.store(0);
}

unsigned scheduler_count() { return static_cast<unsigned>(schedulers.size()); }
Scheduler& scheduler_at(unsigned index) { return *schedulers[index]; }

void request_halt(int status, bool flush) {
  std::lock_guard guard(halt_mutex);
  if (halt_requested) return;
  halt_requested = true;
  halt_request = {status, flush};
  halt_condition.notify_all();
}

HaltRequest wait_for_halt() {
  std::unique_lock lock(halt_mutex);
  halt_condition.wait(lock, [] { return halt_requested; });
  return halt_request;
}

void hold_processes() {
  processes_held.store(true, std::memory_order_seq_cst);
  std::unique_lock lock(halt_mutex);
  halt_condition.wait_for(lock, kPatience, [] {
    return std::all_of(schedulers.begin(), schedulers.end(), [](auto& s) {
      return s->idle.load(std::memory_order_seq_cst) || s->holds_processes.load(std::memory_order_seq_cst);
    });
  });
}

}  // namespace vmrun

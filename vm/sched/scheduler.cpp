// SPDX-License-Identifier: Apache-2.0
#include "vm/sched/scheduler.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <unistd.h>

#include "vm/base/clock.hpp"
#include "vm/base/debugger_facts.hpp"
#include "vm/base/microstate.hpp"
#include "vm/base/processors.hpp"
#include "vm/base/thread.hpp"
#include "vm/heap/literal.hpp"
#include "vm/lifecycle/answer.hpp"
#include "vm/lifecycle/exit.hpp"
#include "vm/lifecycle/gc.hpp"
#include "vm/message/deferred_decoding.hpp"
#include "vm/message/handle.hpp"
#include "vm/message/send.hpp"
#include "vm/probes/fire.hpp"
#include "vm/process/code_view.hpp"
#include "vm/process/deep_stack.hpp"
#include "vm/process/dirty_job.hpp"
#include "vm/process/dirty_state.hpp"
#include "vm/process/paths_enabled.hpp"
#include "vm/process/priority_boost.hpp"
#include "vm/process/process_table.hpp"
#include "vm/process/return_address.hpp"
#include "vm/process/sampled.hpp"
#include "vm/sched/binding.hpp"
#include "vm/sched/bound.hpp"
#include "vm/sched/idle.hpp"
#include "vm/sched/online.hpp"
#include "vm/sched/poll.hpp"
#include "vm/sched/run_queue.hpp"
#include "vm/sched/run_queue_wait.hpp"
#include "vm/sched/sched_upcalls.hpp"
#include "vm/sched/stop_the_world.hpp"
#include "vm/sched/timers.hpp"
#include "vm/sched/turns.hpp"
#include "vm/term/long_compare.hpp"
#include "vm/term/pid_numbers.hpp"
#include "vm/term/print.hpp"
#include "vm/trace/call_trace.hpp"
#include "vm/trace/saved_calls.hpp"
#include "vm/trace/system_monitor.hpp"
#include "vm/trace/system_profile.hpp"
#include "vm/trace/trace.hpp"
#include "vm/trace/tracer.hpp"

/// How schedulers share work. A thread that makes a process runnable puts it on its own scheduler's
/// queue (run_queue.hpp), because what two processes send to each other is in that core's cache
/// anyway. Queueing and picking cost no atomic read-modify-write.
///
/// Work moves when there is too much of it. When processes have waited for a while on a scheduler's
/// queue, and the scheduler sees an idle one, it offers a part of the queue. Any scheduler that
/// finds the offer takes it as a whole. The offering scheduler wakes one that sleeps, unless
/// another one is searching already (idle.hpp). When a scheduler does not return to its loop
/// because what it runs does not yield, another one takes what waits there.
namespace vmrun {

namespace {

constexpr std::int32_t kUpkeepReductions = 4000;
// With one reduction, a process would give up the core at its first call, for ever.
constexpr std::int32_t kLeastSlice = 2;
constexpr std::int32_t kSwitchCost = 20;             // the cost of a switch to another process, in reductions
constexpr std::int32_t kReductionsBefore = 1000;     // the work before let_others_run counts as many
constexpr std::chrono::milliseconds kPatience{100};  // with running slices when the machine ends

SchedulerOptions options;
std::vector<std::unique_ptr<Scheduler>> schedulers;
std::atomic<unsigned> started{0};
// Never destroyed: a child that native code has forked does not have these threads, and may call
// exit.
auto& threads = *new std::vector<std::thread>;
Inbox<Process, &Process::next_in_queue> boot_inbox;  // made runnable before there was a scheduler

// ---- Structures of processes that have ended ----------------------------------------------------

void reclaim(Scheduler& s) {
  s.retired.reclaim([](Process& p) { recycle_process(&p); });
}

void retire(Scheduler& s, Process& p) {
  s.retired.retire(p);
  if (!s.retired.batch_is_full()) return;
  reclaim(s);
  s.retired.stamp();
}

// ---- Upkeep -------------------------------------------------------------------------------------

void keep_up(Scheduler& s) {
  const InMeasuredMicrostate aux(Microstate::kAux);
  s.until_upkeep = kUpkeepReductions;
  fire_due_timers(s);
  s.queue_length.store(waiting_processes(s), std::memory_order_relaxed);
  reclaim(s);
  sched_upcalls.reclaim_ports();
  s.odd_slice |= options.short_slices;
  if (poll_wanted()) [[unlikely]]
    poll_now_and_then();
  if (s.put_alarm_off_ns == kNoAlarm) return;  // it is the only scheduler
  if (s.alarm.is_set()) put_alarm_off(s);
  else watch_between_slices(s);
}

// ---- Running ------------------------------------------------------------------------------------

void fire_scheduled(Process& p) {
  if (!probe::process_scheduled_in_full()) return probe::count_process_scheduled();
  const FunctionName f = resume_function(p);
  probe::fire_process_scheduled(p.id, {f.module, f.function, f.arity});
}

void fire_unscheduled(Process& p) {
  if (!probe::process_unscheduled_in_full()) return probe::count_process_unscheduled();
  probe::fire_process_unscheduled(p.id);
}

[[gnu::noinline]] bool has_other_reason_to_run(const Process& p) {
  switch (p.wait_kind) {
    case WaitKind::kNone: return true;
    case WaitKind::kReceive: return p.receive_timer && p.receive_timer->fired.load(std::memory_order_acquire);
    case WaitKind::kSuspended:
    case WaitKind::kBusyPort: return p.resume_requested;
    case WaitKind::kDirty: return false;
  }
  return true;
}
/// Whether a process that was woken has something to do. Otherwise only a signal had come.
[[gnu::always_inline]] inline bool has_reason_to_run(const Process& p) {
  return p.wait_kind == WaitKind::kNone || (p.wait_kind == WaitKind::kReceive && p.mailbox.unseen()) ||
         has_other_reason_to_run(p);
}

WaitKind wait_kind_of(const Process& p, RunResult result) {
  if (result == RunResult::kWaiting) return WaitKind::kReceive;
  return p.bif_action == BifAction::kSuspendBusy ? WaitKind::kBusyPort : WaitKind::kSuspended;
}

/// Whether any of the probes in the path of a slice is enabled. It is tested once, at the beginning
/// of the slice. Each of the functions below has two instances.
enum class Watched : bool { kNo, kYes };

/// Puts a process that can go on at the end of the queue.
template <Watched kWatched = Watched::kYes>
[[gnu::always_inline]] inline void wait_for_turn(Scheduler& s, Process& p) {
  if (kWatched == Watched::kYes) begin_wait(p, QueueOf::kScheduler);
  enqueue(s, p);
}

/// As park. Reports to the system profiler before another thread can get the process.
[[gnu::cold, gnu::noinline]] void park_profiled(Scheduler& s, Process& p) {
  profile_process(p, false);
  if (p.mailbox.park()) return;
  profile_process(p, true);
  wait_for_turn(s, p);
}

/// Gives up the core if nothing has arrived meanwhile. The process must not be used after that.
template <Watched kWatched>
[[gnu::always_inline]] inline void park(Scheduler& s, Process& p) {
  if (kWatched == Watched::kYes && is_profiled(kProfileProcs)) [[unlikely]]
    return park_profiled(s, p);
  if (!p.mailbox.park()) wait_for_turn<kWatched>(s, p);
}

/// For a process that has exited, or has done a part of its exit.
void retire_or_go_on(Scheduler& s, Process& p) {
  if (is_ending(p)) [[unlikely]] {
    trace_exiting(p, atoms::out_exiting);
    if (leave_to_dirty_thread(p)) return;
    wait_for_turn(s, p);
    return;
  }
  if (is_profiled(kProfileProcs)) [[unlikely]]
    profile_process(p, false, true);
  retire(s, p);
}

void end_by_signal(Scheduler& s, Process& p) {
  end_wait(p, QueueOf::kScheduler);
  if (probe::process_scheduled_enabled()) [[unlikely]] {
    waited_for = p.wait_kind;
    probe::fire_process_scheduled(p.id, {});
  }
  trace_exiting(p, atoms::in_exiting);
  exit_process(p, p.exit_reason, false);
  if (probe::process_unscheduled_enabled()) [[unlikely]]
    probe::fire_process_unscheduled(p.id);
  s.current = nullptr;
  retire_or_go_on(s, p);
}

void collect_scheduled_out(Process& p) {
  if (collect(p, 0, p.saved_regs, p.live_saved) >= 0) return;
  p.exit_pending = true;
  p.exit_reason = atoms::killed;
}

/// Sends p to a dirty scheduler, which decodes the first deferred message. p returns afterwards.
[[gnu::cold, gnu::noinline]] void go_and_decode(Process& p) {
  end_wait(p, QueueOf::kScheduler);
  p.extra->other_dirty_work = OtherDirtyWork::kDecode;
  sched_upcalls.run_dirty(p);
}

/// Leaves p to its native code: signals behind a large message that is not decoded yet wait until
/// that code has returned.
[[gnu::cold, gnu::noinline]] bool let_signals_wait(Process& p) {
  end_wait(p, QueueOf::kScheduler);
  hand_back(p);
  return false;
}

/// Answers requests. Returns false when the process does not run now: the answer goes on on a dirty
/// scheduler, or the process was boosted for the answer (priority_boost.hpp) and waits for its own
/// turn.
[[gnu::cold, gnu::noinline]] bool answer_and_settle(Scheduler& s, Process& p) {
  const std::int32_t cost = answer_deferred(p);
  s.until_upkeep -= cost;
  if (waiting_processes(s)) s.others_waited += cost;
  if (p.extra && p.extra->other_dirty_work == OtherDirtyWork::kAnswer) [[unlikely]] {
    end_wait(p, QueueOf::kScheduler);
    sched_upcalls.run_dirty(p);
    return false;
  }
  // A process with requests left runs native code on a dirty scheduler, and does not run here.
  if (!is_boosted(p) || p.exit_pending || p.deferred_requests) return true;
  end_boost(p);
  if (!is_boosted(p) && (p.suspend_count || !has_reason_to_run(p))) return true;
  end_wait(p, QueueOf::kScheduler);
  wait_for_turn(s, p);
  return false;
}

/// Handles signals and answers requests. Returns true when the process is to run now.
template <Watched kWatched>
[[gnu::always_inline]] inline bool prepare(Scheduler& s, Process& p) {
  if (p.mailbox.has_arrivals()) {
    if (p.mailbox.is_closed()) [[unlikely]] {  // a closed mailbox counts as one with arrivals
      end_wait(p, QueueOf::kScheduler);
      trace_exiting(p, atoms::in_exiting);
      end_more(p);
      s.until_upkeep -= kSliceReductions / 4;
      s.others_waited += waiting_processes(s) ? kSliceReductions / 4 : 0;
      retire_or_go_on(s, p);
      return false;
    }
    if (kWatched == Watched::kYes) {
      handle_arrivals(p);
      if (queues_monitored()) [[unlikely]]
        monitor_queue(p);
    } else {
      handle_arrivals_unobserved(p);
    }
  }
  if (p.deferred_requests && !p.exit_pending) [[unlikely]] {
    if (has_deferred_decoding(p)) {
      if (is_with_dirty(p)) return let_signals_wait(p);
      go_and_decode(p);
      return false;
    }
    if (!answer_and_settle(s, p)) return false;
  }
  if (p.exit_pending) [[unlikely]] {
    end_by_signal(s, p);
    return false;
  }
  if (p.suspend_count == 0 && has_reason_to_run(p)) return true;
  end_wait(p, QueueOf::kScheduler);
  if (is_with_dirty(p) && hand_back_if_wanted(p)) return false;
  if (p.wait_kind == WaitKind::kNone) {  // it would run if it were not suspended
    p.wait_kind = WaitKind::kSuspended;
    p.resume_requested = true;
  }
  park<kWatched>(s, p);
  return false;
}

std::int32_t random_length(Scheduler& s, Word most) {
  return kLeastSlice + static_cast<std::int32_t>(next_random(s.random_state) % most);
}

/// Returns how many reductions slices really use: the average since this was last computed, which
/// happens after as many reductions as one slice may have. 0: not known.
Word usual_use(Scheduler& s) {
  const Word reductions = s.reductions_done.load(std::memory_order_relaxed),
             slices = s.slices.load(std::memory_order_relaxed);
  const Word used = reductions - s.known_reductions, count = slices - s.known_slices;
  if (used < static_cast<Word>(options.slice)) return 0;
  s.known_reductions = reductions;
  s.known_slices = slices;
  return count ? used / count : 0;
}

[[gnu::cold, gnu::noinline]] std::int32_t odd_length(Scheduler& s, bool apart) {
  if (options.random) return random_length(s, static_cast<Word>(options.slice));
  if (apart) return options.slice;  // a watched slice is not cut short for this
  s.odd_slice = false;
  const Word use = usual_use(s);
  return use && 2 * use < static_cast<Word>(options.slice) ? random_length(s, 2 * use) : options.slice;
}

std::int32_t slice_length(Scheduler& s, bool apart) {
  if (s.odd_slice) [[unlikely]]
    return odd_length(s, apart);
  return options.slice;
}

thread_local bool slice_is_traced = false;  // whether the running slice is

/// Returns the instructions that a slice runs which begins now.
Instructions instructions_for(const Process& p) {
  if (probe::calls_enabled() || runs_traced(p)) return Instructions::kTraced;
  return stack_is_deep(p) ? Instructions::kCountReturns : Instructions::kOrdinary;
}

/// Runs a slice that was watched at its start, so that every process-unscheduled has its
/// process-scheduled.
[[gnu::cold, gnu::noinline]] RunResult run_traced(Scheduler& s, Process& p) {
  slice_is_traced = true;
  if (probe::process_scheduled_enabled()) fire_scheduled(p);
  trace_running(p, true);
  call_time_begins(p);
  s.instructions = instructions_for(p);
  const RunResult result = options.run(s, p);
  s.instructions = Instructions::kOrdinary;
  slice_is_traced = false;
  if (result != RunResult::kExited) {
    call_time_ends(p);
    trace_running(p, false);
  }
  if (probe::process_unscheduled_enabled()) fire_unscheduled(p);
  return result;
}

/// The bits of Process::observed with which a slice does not take the common path.
constexpr std::uint32_t kRunsApart =
    kTraceAll | kAwaitsReturns | kSavesCalls | kStackDeep | kWaitObserved | kBoundToScheduler | kHibernates;

/// Runs a slice with any of these bits.
[[gnu::cold, gnu::noinline]] RunResult run_apart(Scheduler& s, Process& p) {
  if (is_bound_to_another(p, s)) {
    p.has_begun.store(p.ip, std::memory_order_release);
    return RunResult::kBound;
  }
  end_wait(p, QueueOf::kScheduler);
  if (p.observed & kHibernates) collect_after_hibernation(p);
  forget_deep_stack(p);
  const PathsEnabled paths_enabled(p);
  const SliceMonitor monitor(p);
  RunResult result;
  if (probe::slice_enabled() || probe::calls_enabled() || is_traced(p, kTraceAll)) {
    result = run_traced(s, p);
  } else {
    s.instructions = instructions_for(p);
    result = options.run(s, p);
    s.instructions = Instructions::kOrdinary;
  }
  monitor.finish(p, result == RunResult::kExited);
  return result;
}

/// For a process that has left the scheduler.
[[gnu::always_inline]] inline void leave(Scheduler& s, Process& p, RunResult result) {
  if (result == RunResult::kExited) return retire_or_go_on(s, p);
  if (result == RunResult::kDirty) return sched_upcalls.run_dirty(p);
  hand_to_bound(p);
}

template <Watched kWatched>
[[gnu::always_inline]] inline void run_slice_as(Scheduler& s, Process& p) {
  s.current = &p;
  p.scheduler = &s;
  look_at_leaving_literals();
  if (!prepare<kWatched>(s, p)) {
    s.current = nullptr;
    s.until_upkeep -= kSwitchCost;
    return;
  }
  const bool apart = kWatched == Watched::kYes || p.observed & kRunsApart;
  if (apart) [[unlikely]]
    waited_for = p.wait_kind;
  s.began_at = p.wait_kind == WaitKind::kNone ? p.ip : ends_of_calls;
  p.wait_kind = WaitKind::kNone;
  p.resume_requested = false;
  p.has_begun.store(true, std::memory_order_release);  // a thread that sees it waits for the end of the slice
  const std::int32_t slice = s.slice = slice_length(s, apart);
  p.reductions = slice;

  const RunResult result = apart ? run_apart(s, p) : options.run(s, p);
  if (samples_wait) [[unlikely]]
    deliver_samples(result == RunResult::kExited ? nullptr : &p);

  const std::int32_t used = slice - p.reductions;
  p.reductions_done += static_cast<Word>(used);
  s.reductions_done.store(s.reductions_done.load(std::memory_order_relaxed) + static_cast<Word>(used),
                          std::memory_order_relaxed);
  s.slices.store(s.slices.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  s.until_upkeep -= used + kSwitchCost;
  s.others_waited = waiting_processes(s) ? s.others_waited + used + kSwitchCost : 0;
  s.current = nullptr;

  if (result >= RunResult::kExited) [[unlikely]]
    return leave(s, p, result);
  if (p.heap.gc_desired()) [[unlikely]] {
    if (long_collection(p)) {
      // Whether it has a reason to run is tested when it returns.
      if (result != RunResult::kYielded) p.wait_kind = wait_kind_of(p, result);
      collect_on_dirty(p, 0);
      return sched_upcalls.run_dirty(p);
    }
    collect_scheduled_out(p);
    deliver_waiting_samples(p);
  }
  switch (result) {
    case RunResult::kYielded: wait_for_turn<kWatched>(s, p); break;
    case RunResult::kWaiting:
    case RunResult::kSuspended:
      p.wait_kind = wait_kind_of(p, result);
      // What has arrived already, or must be answered, is handled when the process runs next.
      // (After hibernate a message can lie unseen in the inner queue.)
      if (p.exit_pending || p.deferred_requests || p.resume_requested ||
          (p.wait_kind == WaitKind::kReceive && p.mailbox.unseen()))
        wait_for_turn<kWatched>(s, p);
      else park<kWatched>(s, p);
      break;
    case RunResult::kExited:
    case RunResult::kDirty:
    case RunResult::kBound: break;
  }
}

[[gnu::cold, gnu::noinline]] void run_traced_slice(Scheduler& s, Process& p) {
  if (is_profiled(kProfileSchedulers)) profile_scheduler_runs(s.number, s.reported_idle, p.id);
  const InMeasuredMicrostate runs(Microstate::kEmulator);
  run_slice_as<Watched::kYes>(s, p);
}

/// Two instances, which the linker must not merge, so that the loop below has an inlined one of its
/// own.
template <bool kInTheMiddle>
[[gnu::no_icf]] void run_slice(Scheduler& s, Process& p) {
  if (probe::paths_enabled()) [[unlikely]]
    return run_traced_slice(s, p);
  run_slice_as<Watched::kNo>(s, p);
}

[[gnu::cold, gnu::noinline]] std::int32_t run_measured_port(RunnablePort& p) {
  const InMeasuredMicrostate runs(Microstate::kPort);
  return sched_upcalls.run_port(p);
}

std::int32_t run_port(RunnablePort& p) {
  return microstates_measured.load(std::memory_order_relaxed) ? run_measured_port(p)
                                                              : sched_upcalls.run_port(p);
}

/// Takes ports that other threads handed over, and then runs the first port. This happens between
/// two slices, so that neither ports nor processes starve the others.
void serve_ports(Scheduler& s) {
  if (!s.port_inbox.seems_empty()) take_port_inbox(s);
  RunnablePort* p = pick_port(s, options.random);
  if (!p) return;
  s.runs = true;
  if (is_profiled(kProfileSchedulers)) [[unlikely]]
    profile_scheduler_runs(s.number, s.reported_idle, kNonValue);
  const std::int32_t used = run_port(*p) + kSwitchCost;
  s.runs = false;
  s.until_upkeep -= used;
  s.others_waited = waiting_processes(s) || waiting_ports(s) ? s.others_waited + used : 0;
}

/// Under +random-sched: whether processes go on now, as if the ports ran slowly on another
/// scheduler.
bool puts_ports_off(Scheduler& s) {
  return options.random && waiting_processes(s) && next_random(s.random_state) >> 63;
}

// ---- In the middle of a slice -------------------------------------------------------------------

/// A process in the middle of an instruction, while another process has the scheduler. The
/// destructor restores what slices share. The state of the process is only here and in the
/// interpreter's frame, so nothing touches it meanwhile: it is on no queue, and signals wait for
/// its next slice.
class SetAside {
 public:
  explicit SetAside(Scheduler& s)
      : s_(s), p_(*s.current), slice_(s.slice), instructions_(s.instructions), traced_(slice_is_traced) {
    deliver_waiting_samples(p_);
    std::memcpy(static_cast<void*>(x_), s.x, sizeof x_);
    if (traced_) [[unlikely]] {
      trace_running(p_, false);
      if (probe::process_unscheduled_enabled()) probe::fire_process_unscheduled(p_.id);
    }
    slice_is_traced = false;
    s.instructions = Instructions::kOrdinary;
  }
  ~SetAside() {
    s_.current = &p_;
    s_.slice = slice_;
    s_.instructions = instructions_;
    s_.runs = true;
    slice_is_traced = traced_;
    waited_for = WaitKind::kNone;
    if (traced_) [[unlikely]] {
      if (probe::process_scheduled_enabled()) fire_scheduled(p_);
      trace_running(p_, true);
    }
    std::memcpy(static_cast<void*>(s_.x), x_, sizeof x_);
  }
  SetAside(const SetAside&) = delete;

 private:
  Scheduler& s_;
  Process& p_;
  const std::int32_t slice_;
  const Instructions instructions_;
  const bool traced_;
  Term x_[kMaxXRegs + 1];
};

constexpr unsigned kMostSetAside = 8;  // of one scheduler at a time: each takes room on its stack
thread_local unsigned set_aside_here = 0;

/// An iteration of the loop below, without what is only done between two slices: epochs, the end.
void take_turn(Scheduler& s) {
  if (!s.inbox.seems_empty()) take_inbox(s);
  if (s.until_upkeep <= 0) keep_up(s);
  if (!waiting_processes(s) && !waiting_ports(s) && s.port_inbox.seems_empty()) return;
  const SetAside current(s);
  s.current = nullptr;
  serve_ports(s);
  if (Process* p = pick(s, options.random)) {
    s.runs = true;
    run_slice<true>(s, *p);
  }
}

}  // namespace

void let_others_run() {
  Scheduler* s = this_scheduler();
  if (!s || !s->current || dirty_thread_kind() != DirtyKind::kNone || set_aside_here == kMostSetAside) return;
  if (s->asked.load(std::memory_order_relaxed) || processes_held.load(std::memory_order_relaxed)) return;
  s->until_upkeep -= kReductionsBefore;
  if (waiting_processes(*s) && (s->others_waited += kReductionsBefore) >= kWaitedBeforeSharing) share(*s);
  ++set_aside_here;
  take_turn(*s);
  --set_aside_here;
}

namespace {

void go_idle(Scheduler& s) {
  if (is_profiled(kProfileSchedulers)) [[unlikely]] {
    profile_scheduler_idle(s.number, s.reported_idle);
    if (waiting_processes(s)) return;  // the process that profiles
  }
  s.queue_length.store(0, std::memory_order_relaxed);
  reclaim(s);
  s.retired.stamp();
  if (!wait_for_work(s)) s.until_upkeep = 0;
}

/// Called while the scheduler is offline.
void rest_offline(Scheduler& s) {
  epoch_quiescent(*s.epoch);
  fire_due_timers(s);
  hand_over_all(s);
  s.queue_length.store(0, std::memory_order_relaxed);
  reclaim(s);
  s.retired.stamp();
  sleep_offline(s);
  s.until_upkeep = 0;
}

void boost_here(Scheduler& s) {
  // The bit is cleared first: a request that comes from now on sets it again.
  s.asked.fetch_and(static_cast<std::uint8_t>(~kAskedToBoost), std::memory_order_seq_cst);
  boost_waiting(s);
}

// ---- Calls that every scheduler makes -----------------------------------------------------------

struct CallForAll {
  std::function<void()> each, done;
  std::atomic<std::size_t> left;  // how many schedulers have not called yet
};
std::mutex calls_mutex;
std::vector<std::pair<Scheduler*, std::shared_ptr<CallForAll>>> calls_waiting;  // guarded by calls_mutex

void call_here(Scheduler& s) {
  // The bit is cleared first: a request that comes from now on sets it again.
  s.asked.fetch_and(static_cast<std::uint8_t>(~kAskedToCall), std::memory_order_seq_cst);
  std::vector<std::shared_ptr<CallForAll>> mine;
  {
    std::lock_guard lock(calls_mutex);
    std::erase_if(calls_waiting, [&](auto& waiting) {
      return waiting.first == &s && (mine.push_back(waiting.second), true);
    });
  }
  for (const auto& call : mine) {
    call->each();
    // Release and acquire: what the others have done is visible to `done`.
    if (call->left.fetch_sub(1, std::memory_order_acq_rel) == 1) call->done();
  }
}

// ---- Halt ---------------------------------------------------------------------------------------

std::mutex held_mutex;
std::condition_variable held_condition;

void tell_held(Scheduler& s) {
  if (s.holds_processes.exchange(true, std::memory_order_seq_cst)) return;
  std::lock_guard guard(held_mutex);
  held_condition.notify_all();
}

// ---- The loop -----------------------------------------------------------------------------------

/// Called when something waits: if what runs before it takes long, an idle scheduler must take it.
void mind_waiting(Scheduler& s) {
  if (!s.alarm.is_set()) [[unlikely]]
    set_alarm_if_needed(s);
}

/// The address that it returns to.
[[gnu::noinline]] const void* caller() { return __builtin_return_address(0); }

void run(Scheduler& s) {
  s.thread_frame.return_address = __builtin_return_address(0);
  s.scheduler_frame = {&s.thread_frame, caller()};
  s.interpreter_frame.next = &s.scheduler_frame;
  current_core = &s;
  s.tid.store(static_cast<int>(gettid()), std::memory_order_relaxed);
  s.epoch = &epoch_slot();
  epoch_enter(*s.epoch);
  for (;;) {
    if (const auto asked = s.asked.load(std::memory_order_relaxed)) [[unlikely]] {
      if (asked & kAskedToEnd) break;
      if (asked & kAskedToBoost) boost_here(s);
      else if (asked & kAskedToCall) call_here(s);
      else if (asked & kAskedToStop) stop_for_others(s);
      else if (asked != kAskedForTurn) rest_offline(s);
      if (asked != kAskedForTurn || !give_turn_away(s)) continue;
    }
    epoch_quiescent(*s.epoch);
    s.turns.store(s.turns.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (!s.inbox.seems_empty()) {
      take_inbox(s);
      mind_waiting(s);
    }
    if (s.until_upkeep <= 0) keep_up(s);
    if ((!s.port_inbox.seems_empty() || waiting_ports(s)) && !puts_ports_off(s)) [[unlikely]]
      serve_ports(s);
    const bool held = processes_held.load(std::memory_order_relaxed);
    if (held) [[unlikely]]
      tell_held(s);
    Process* p = held ? nullptr : pick(s, options.random);
    if (!p) {
      if (!waiting_ports(s)) go_idle(s);
      continue;
    }
    s.runs = true;
    run_slice<false>(s, *p);
    s.runs = false;
    if (s.others_waited >= kWaitedBeforeSharing) share(s);
  }
  epoch_leave(*s.epoch);
  current_core = nullptr;
}

}  // namespace

namespace {

/// For threads that are not schedulers.
[[gnu::cold, gnu::noinline]] void queue_from_outside(Process& p) {
  if (schedulers.empty()) return (void)boot_inbox.push(p);
  Scheduler& s = p.scheduler ? static_cast<Scheduler&>(*p.scheduler.load()) : *schedulers[0];
  boost_as_requested(p);
  s.inbox.push(p);
  wake_owner(s);
}

[[gnu::always_inline]] inline void put_on_queue(Process& p) {
  Scheduler* s = this_scheduler();
  if (!s) [[unlikely]]
    return queue_from_outside(p);
  // The rare case is called last, so that no registers need be saved for it.
  if (!s->queue_lock.try_lock()) [[unlikely]]
    return enqueue_after_other(*s, p);
  enqueue_and_unlock(*s, p);
  mind_waiting(*s);
}

[[gnu::cold, gnu::noinline]] void put_on_traced_queue(Process& p, bool has_waited) {
  begin_observed_wait(p, QueueOf::kScheduler);
  if (has_waited && is_profiled(kProfileProcs)) profile_process(p, true);
  put_on_queue(p);
}

}  // namespace

unsigned note_idle_schedulers() {
  unsigned busy = 0;
  for (const auto& s : schedulers) {
    const bool idle = s->idle.load(std::memory_order_seq_cst);
    s->reported_idle.store(idle, std::memory_order_relaxed);
    busy += idle ? 0 : 1;
  }
  return busy;
}

void queue_process_unobserved(Process& p) { put_on_queue(p); }

void queue_process(Process& p) {
  if (probe::run_queue_enabled()) [[unlikely]]
    return put_on_traced_queue(p, true);
  put_on_queue(p);
}

void queue_process_again(Process& p) {
  if (probe::run_queue_enabled()) [[unlikely]]
    return put_on_traced_queue(p, false);
  put_on_queue(p);
}

void scan_for_boosts() {
  for (const auto& s : schedulers)
    if (!(s->asked.load(std::memory_order_seq_cst) & kAskedToBoost))
      s->asked.fetch_or(kAskedToBoost, std::memory_order_seq_cst);
}

void call_on_all_schedulers(std::function<void()> each, std::function<void()> done) {
  if (schedulers.empty()) return done();
  const auto call = std::make_shared<CallForAll>();
  call->each = std::move(each);
  call->done = std::move(done);
  call->left.store(schedulers.size(), std::memory_order_relaxed);
  {
    std::lock_guard lock(calls_mutex);
    for (const auto& s : schedulers) calls_waiting.emplace_back(s.get(), call);
  }
  for (const auto& s : schedulers) {
    s->asked.fetch_or(kAskedToCall, std::memory_order_seq_cst);
    wake_owner(*s);
  }
}

void make_runnable(RunnablePort& p, Scheduler* on) {
  Scheduler* here = this_scheduler();
  if (here && (!on || on == here)) {
    enqueue(*here, p);
    return mind_waiting(*here);
  }
  Scheduler* last = p.scheduler.load(std::memory_order_relaxed);
  Scheduler& s = on ? *on : last ? *last : *schedulers[0];
  s.port_inbox.push(p);
  wake_owner(s);
}

void start_schedulers(const SchedulerOptions& wanted) {
  options = wanted;
  if (options.slice < kLeastSlice) options.slice = kLeastSlice;
  unsigned count = wanted.schedulers ? wanted.schedulers : processors().configured;
  if (count > kMaxSchedulers) count = kMaxSchedulers;
  for (unsigned i = 0; i < count; ++i) {
    schedulers.push_back(std::make_unique<Scheduler>(i + 1));
    schedulers[i]->search_state = i + 1;
    schedulers[i]->odd_slice = options.random;
    schedulers[i]->random_state = (wanted.seed + i + 1) * 0x9E3779B97F4A7C15u | 1;
  }
  started.store(count, std::memory_order_release);
  for (Process* p = boot_inbox.take(); p;) {
    Process* next = p->next_in_queue;
    schedulers[0]->inbox.push(*p);
    p = next;
  }
  start_idling();
  start_online(wanted.online ? std::min(wanted.online, count) : count);
  prepare_bindings(count);
  std::vector<Microstates*> states;  // the first process may ask about threads that have not begun
  for (auto& s : schedulers) states.push_back(&account_for_thread(ThreadKind::kScheduler, s->number));
  for (auto& s : schedulers)
    threads.push_back(
        start_needed_thread(std::to_string(s->number) + "_scheduler", [&s, mine = states[s->number - 1]] {
          account_as(*mine);
          bind_own_thread(s->number - 1);
          run(*s);
        }));
}

void stop_schedulers() {
  prepare_bindings(0);
  for (auto& s : schedulers) {
    s->asked.fetch_or(kAskedToEnd, std::memory_order_seq_cst);
    wake_owner(*s);
  }
  for (std::thread& t : threads) t.join();
  threads.clear();
  stop_idling();
  started.store(0, std::memory_order_relaxed);
  take_turns(false);  // dirty schedulers go on
  schedulers.clear();
}

unsigned scheduler_count() { return static_cast<unsigned>(schedulers.size()); }
unsigned schedulers_started() { return started.load(std::memory_order_acquire); }
Scheduler& scheduler_at(unsigned index) { return *schedulers[index]; }

void tell_debuggers_of_schedulers() {
  add_debugger_fact("schedulers", &schedulers);  // a vector of pointers
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
  add_debugger_fact("Scheduler.tid", offsetof(Scheduler, tid));
  add_debugger_fact("Scheduler.current", offsetof(Scheduler, current));
  add_debugger_fact("Process.id", offsetof(Process, id));
  add_debugger_fact("pid.number_bits", pid_number_bits());
  add_debugger_fact("Process.ip", offsetof(Process, ip));
  add_debugger_fact("Process.registered_name", offsetof(Process, registered_name));
  add_debugger_fact("Process.stack_top", offsetof(Process, heap.stop));
  add_debugger_fact("Process.stack_end", offsetof(Process, heap.end));
#pragma GCC diagnostic pop
  add_debugger_fact("processes.places", process_table.places());
  add_debugger_fact("processes.marks", process_table.marks());
  add_debugger_fact("processes.limit", process_table.limit());
  add_debugger_fact("processes.chunk", ProcessTable::kChunk);
}

void begin_to_hold_processes() {
  processes_held.store(true, std::memory_order_seq_cst);
  take_turns(false);
}

void hold_processes() {
  begin_to_hold_processes();
  std::unique_lock lock(held_mutex);
  held_condition.wait_for(lock, kPatience, [] {
    return std::all_of(schedulers.begin(), schedulers.end(), [](auto& s) {
      return s->idle.load(std::memory_order_seq_cst) || s->holds_processes.load(std::memory_order_seq_cst);
    });
  });
}

unsigned scheduler_number() {
  const Scheduler* s = this_scheduler();
  return s ? s->number : 0;
}

}  // namespace vmrun

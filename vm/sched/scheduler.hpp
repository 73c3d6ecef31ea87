// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "vm/base/adaptive_spin.hpp"
#include "vm/base/epoch.hpp"
#include "vm/base/inbox.hpp"
#include "vm/base/memory_trim.hpp"
#include "vm/base/owner_lock.hpp"
#include "vm/base/parker.hpp"
#include "vm/base/retired.hpp"
#include "vm/base/stopwatch.hpp"
#include "vm/process/core.hpp"
#include "vm/sched/alarm.hpp"
#include "vm/sched/runnable_port.hpp"

/// One operating-system thread that runs processes: its run queue, timers, argument registers. The
/// scheduler set owns it. Only its own thread uses it, except for what is marked otherwise.
/// scheduler.cpp says how the schedulers share work.
namespace vmrun {

inline constexpr unsigned kMaxSchedulers = 1024;
inline constexpr std::int32_t kSliceReductions = 4000;

/// How a slice ended.
enum class RunResult {
  kYielded,    // slice used up (or asked to yield): runnable
  kWaiting,    // in receive, all messages tested: not runnable until something arrives
  kSuspended,  // waits for something other than a message (fiber, suspend)
  // With those below it no longer belongs to this scheduler.
  kExited,  // exit_process has run; the Process may be freed by its table any time now
  kDirty,   // goes to a dirty scheduler with its saved registers (see nif/dirty.hpp)
  kBound,   // has not run: it is bound to another scheduler (bound.hpp)
};

/// What a scheduler is asked to do between two slices. kOffline is not a request: the owner sets it
/// while it is offline (online.hpp), and has to read its requests until it is online again.
enum SchedulerRequest : std::uint8_t {
  kAskedToEnd = 1,
  kAskedToStop = 2,
  kAskedToRest = 4,
  kOffline = 8,
  kAskedToBoost = 16,
  kAskedToCall = 32,
  kAskedForTurn = 64  // turns.hpp
};

/// A queue of runnable things, first come first served, linked through their next_in_queue.
template <class T>
struct RunList {
  T* first = nullptr;
  T* last = nullptr;
  unsigned count = 0;
  void push(T& it) {
    it.next_in_queue = nullptr;
    (last ? last->next_in_queue : first) = &it;
    last = &it;
    ++count;
  }
  T& pop() {
    T& it = *first;
    first = it.next_in_queue;
    if (!first) last = nullptr;
    --count;
    return it;
  }
  /// Puts all of the other list in front.
  void prepend(const RunList& other) {
    if (!other.first) return;
    other.last->next_in_queue = first;
    if (!last) last = other.last;
    first = other.first;
    count += other.count;
  }
  /// Puts all of the other list behind the first `skip`, of which there are that many.
  void insert(unsigned skip, const RunList& other) {
    if (!skip) return prepend(other);
    if (!other.first) return;
    T* before = first;
    while (--skip) before = before->next_in_queue;
    other.last->next_in_queue = before->next_in_queue;
    before->next_in_queue = other.first;
    if (last == before) last = other.last;
    count += other.count;
  }
  /// Takes `length` of them out, after the first `skip`. There are more than `skip`.
  RunList cut(unsigned skip, unsigned length) {
    T* before = nullptr;
    for (unsigned i = 0; i < skip; ++i) before = before ? before->next_in_queue : first;
    RunList out;
    out.first = out.last = before ? before->next_in_queue : first;
    for (out.count = 1; out.count < length; ++out.count) out.last = out.last->next_in_queue;
    (before ? before->next_in_queue : first) = out.last->next_in_queue;
    if (last == out.last) last = before;
    out.last->next_in_queue = nullptr;
    count -= out.count;
    return out;
  }
};

/// The work of a scheduler as balance.hpp tells it apart: processes of low and normal priority, of
/// high, of max.
struct WorkKinds {
  static constexpr unsigned kCount = 3;
  static constexpr unsigned of(unsigned priority) { return priority ? priority - 1 : 0; }

  // The owner's.
  Word counted_since_ns = 0;
  Word could_run[kCount] = {};  // how often since then nothing more urgent has waited
  // What the owner tells others.
  std::atomic<Word> noted_ns{0};
  std::atomic<unsigned> waiting[kCount] = {}, room[kCount] = {};  // see Load
};

struct Scheduler : Core {
  using Core::Core;

  bool runs = false;               // is in a slice, or in a port's turn
  const Word* began_at = nullptr;  // where its process continued; ends_of_calls: it had waited before

  // The run queue. Guarded by queue_lock, because the queue of a scheduler that does not return to
  // its loop is taken away.
  RunList<Process> queues[4];      // by priority: low, normal, high, max
  RunList<RunnablePort> ports;     // to run
  Word low_credit = 0;             // what processes of low priority have earned by waiting
  std::int32_t others_waited = 0;  // reductions spent while other processes waited here
  std::int32_t until_upkeep = 0;   // reductions until the clock is read
  std::uint64_t random_state = 0;  // +random-sched, short slices
  // Whether the next slice has an unusual length; and the counts when the usual length was last
  // computed.
  bool odd_slice = false;
  Word known_reductions = 0, known_slices = 0;
  std::uint64_t search_state = 0;  // where the next search for work begins

  // The part of the queue that is offered to others, if any. They take it as a whole from
  // `surplus`.
  RunList<Process> offered;
  std::uint8_t offered_priority = 0;
  unsigned picks_before_offered = 0;  // so many run before it
  bool put_off_sharing = false;       // for one slice, so that a new process begins first

  RunList<Process> bound;  // while it is offline: processes bound to it, which cannot run (bound.hpp)

  bool slept_long = false;  // the last time: longer than an alarm takes to ring
  // Before it sleeps while other threads work for it. It spins for 100 us, because a read or a
  // write of 64 KB takes 30, and a wake-up by the kernel takes as long again.
  AdaptiveSpin away_spin{3200};
  // Before it sleeps in the poller's role. These are system calls of some 0.5 us.
  AdaptiveSpin poll_spin{60, 1};
  MemoryTrimmer trimmer;    // while it sleeps
  bool is_stopped = false;  // see stop_the_world.hpp, which guards it
  EpochSlot* epoch = nullptr;
  Retired<Process, &Process::next_in_queue> retired;  // structures of processes that have ended

  // For any thread. The owner writes these all the time; others read them rarely.
  alignas(64) OwnerLock queue_lock;
  std::atomic<unsigned> runnable{0};  // processes in the queues, without what is offered
  std::atomic<unsigned> runnable_ports{0};
  std::atomic<unsigned> turns{0};         // iterations of its loop: does not change while it is stuck
  std::atomic<unsigned> queue_length{0};  // as of the last slice boundary
  std::atomic<Word> reductions_done{0}, slices{0};
  std::atomic<bool> holds_processes{false};  // hold_processes has taken effect here

  alignas(64) WorkKinds work;

  // Others read this when they search. The owner writes it when it has something to offer.
  alignas(64) std::atomic<Process*> surplus{nullptr};

  // Others write these.
  alignas(64) Inbox<Process, &Process::next_in_queue> inbox;  // runnable ones that others hand over
  Inbox<RunnablePort, &RunnablePort::next_in_queue> port_inbox;
  // Jobs of the async pool, and processes on dirty schedulers, that return here when they are done.
  // A hint not to fall asleep at once.
  std::atomic<unsigned> work_away{0};

  std::atomic<std::uint8_t> asked{0};  // bits of SchedulerRequest
  // Woken to take over from schedulers that are stuck (idle.hpp).
  std::atomic<bool> called_to_relieve{false};

  // Written when it falls asleep and wakes.
  alignas(64) Parker parker;
  std::atomic<bool> idle{false};           // has nothing to do: searches or sleeps
  std::atomic<bool> asleep{false};         // the thread that clears it has claimed the sleeper, and wakes it
  std::atomic<bool> polls{false};          // it has the poller's role (poll.hpp), so others are woken first
  Stopwatch idle_time;                     // how long it has been idle, or offline
  std::atomic<bool> reported_idle{false};  // reported as idle to the system profiler (system_profile.hpp)
  std::atomic<int> tid{0};                 // of its thread, once that runs

  // Set while it works and others sleep. Any thread may set it; the owner puts it off.
  alignas(64) Alarm alarm;
  std::atomic<unsigned> turns_at_alarm{0};  // `turns` when it was set or put off
  Word put_alarm_off_ns = 0;                // the owner's: when it does so next; or kNoAlarm
};

/// The scheduler of the calling thread, nullptr on other threads.
inline Scheduler* this_scheduler() { return static_cast<Scheduler*>(this_core()); }

/// As make_runnable of a process (core.hpp), for a port that has just become Port::Run::kQueued.
/// `on` is the scheduler to run it; nullptr: the caller's, or the one where it ran last.
void make_runnable(RunnablePort& p, Scheduler* on);

struct SchedulerOptions {
  unsigned schedulers = 0;  // 0: one per core
  unsigned online = 0;      // 0: all
  std::int32_t slice = kSliceReductions;
  bool random = false;  // pick among the first runnable processes at random, slices of random length
  std::uint64_t seed = 0;
  // When slices are hardly ever used up, makes some so short that they are, at a random place.
  // Otherwise code that samples at the end of slices (hot_code.hpp) would see nothing.
  bool short_slices = false;
  // Executes a slice, until the process leaves the core, with p.reductions set: `interpret`
  // (code/interpreter.hpp); tests use functions of their own.
  RunResult (*run)(Scheduler& s, Process& p) = nullptr;
};

// What lower layers call through process_upcalls.hpp, term_upcalls.hpp and trace_upcalls.hpp.

void queue_process(Process& p);
void queue_process_again(Process& p);
void queue_process_unobserved(Process& p);
/// Asks all schedulers to look at the processes on their queues (process/priority_boost.hpp).
void scan_for_boosts();
/// One process or port has its turn, in the middle of what the calling scheduler runs.
void let_others_run();
unsigned scheduler_number();
unsigned note_idle_schedulers();

/// Starts the threads. Processes may have been spawned before.
void start_schedulers(const SchedulerOptions& options);
/// Lets every slice end, then joins the threads. Processes that are left stay as they are.
void stop_schedulers();
unsigned scheduler_count();
/// For threads that do not know whether start_schedulers has returned: 0 until it has made all
/// schedulers.
unsigned schedulers_started();
Scheduler& scheduler_at(unsigned index);  // 0-based

/// Every scheduler calls `each` between two slices; the last one calls `done` then. Any thread.
void call_on_all_schedulers(std::function<void()> each, std::function<void()> done);

void tell_debuggers_of_schedulers();  // vm/base/debugger_facts.hpp

/// Called at the end of the machine while ports still have pending output: from now on no process
/// begins a slice, and only ports run. Any thread.
void begin_to_hold_processes();
/// As above, and waits (not for ever) for slices that have begun.
void hold_processes();

}  // namespace vmrun

#pragma once

#include <atomic>
#include <cstdint>

#include "vm/base/adaptive_spin.hpp"
#include "vm/base/epoch.hpp"
#include "vm/base/inbox.hpp"
#include "vm/base/parker.hpp"
#include "vm/base/retired.hpp"
#include "vm/code/interpreter.hpp"
#include "vm/port/port.hpp"
#include "vm/process/process.hpp"
#include "vm/process/timer_wheel.hpp"

/// One operating-system thread that runs processes: its run queue, timers, argument registers.
/// Owned by the scheduler set; only its own thread touches it, but for what is marked otherwise.
/// How the schedulers share work: see scheduler.cpp.
namespace vmrun {

inline constexpr unsigned kMaxXRegs = 1024;
inline constexpr unsigned kMaxSchedulers = TimerWheel::kMostWheels;
inline constexpr std::int32_t kSliceReductions = 4000;

/// Runnable processes of one priority, first come first served.
struct RunList {
  Process* first = nullptr;
  Process* last = nullptr;
  unsigned count = 0;
  void push(Process& p) {
    p.next_in_queue = nullptr;
    (last ? last->next_in_queue : first) = &p;
    last = &p;
    ++count;
  }
  Process& pop() {
    Process& p = *first;
    first = p.next_in_queue;
    if (!first) last = nullptr;
    --count;
    return p;
  }
};

/// Ports with something to do, first come first served.
struct PortList {
  Port* first = nullptr;
  Port* last = nullptr;
  unsigned count = 0;
  void push(Port& p);
  Port& pop();
};

struct Scheduler {
  explicit Scheduler(unsigned number = 0) : number(number), timers(number ? number - 1 : 0) {}

  const unsigned number;  // 1…S; 0: not one of the set
  bool traced = false;    // this slice is to run the instructions that fire probes
  Process* current = nullptr;
  Term x[kMaxXRegs + 1];   // argument registers of the running process
  std::int32_t slice = 0;  // reductions the running process started with

  // Run queue.
  RunList queues[4];               // by priority: low, normal, high, max
  unsigned runnable = 0;           // in all of them
  unsigned low_passed_over = 0;    // picks since a low-priority process ran
  std::int32_t others_waited = 0;  // reductions spent while other processes waited here
  std::int32_t until_upkeep = 0;   // reductions until the clock and the balance are looked at
  std::uint64_t random_state = 0;  // +random-sched

  PortList ports;  // to run

  AdaptiveSpin job_spin;  // before it sleeps while the async pool works for it
  TimerWheel timers;      // any thread, see there
  EpochSlot* epoch = nullptr;

  // Process structures: free ones (table.hpp), and those of processes that have ended.
  Process* free_processes = nullptr;
  unsigned free_process_count = 0;
  Retired<Process, &Process::next_in_queue> retired;

  // Any thread.
  alignas(64) Inbox<Process, &Process::next_in_queue> inbox;  // runnable ones others hand over
  Inbox<Port, &Port::next_in_queue> port_inbox;               // likewise
  Parker parker;
  std::atomic<bool> idle{false};  // has nothing to do; who clears it hands work over
  std::atomic<unsigned> async_jobs{
      0};  // jobs of the async pool whose end comes back here: a hint, not to fall asleep at once
  std::atomic<bool> holds_processes{false};  // hold_processes has taken effect here
  std::atomic<unsigned> queue_length{0};     // as of the last slice boundary
  std::atomic<Word> reductions_done{0}, slices{0};
};

/// The scheduler of the calling thread, nullptr on other threads.
extern thread_local Scheduler* current_scheduler;
inline Scheduler* this_scheduler() { return current_scheduler; }

/// Puts a process that is not on any run queue on one: the caller's own, or from other threads that
/// where it ran last. After a push or notify said so.
void make_runnable(Process& p);
/// The same for a port that has just become Port::Run::kQueued. `on`: the scheduler to run it;
/// nullptr: the caller's, or where it ran last.
void make_runnable(Port& p, Scheduler* on);

struct SchedulerOptions {
  unsigned schedulers = 0;  // 0: one per core
  std::int32_t slice = kSliceReductions;
  bool random = false;  // pick among the first runnable processes at random, slices of random length
  std::uint64_t seed = 0;
  RunResult (*run)(Scheduler& s, Process& p) = interpret;  // what executes a slice; tests put their own in
};

/// Starts the threads. Processes may have been spawned before.
void start_schedulers(const SchedulerOptions& options);
/// Lets every slice end, then joins the threads. Processes that are left stay as they are.
void stop_schedulers();
unsigned scheduler_count();
Scheduler& scheduler_at(unsigned index);  // 0-based

/// Ends the VM: the thread in wait_for_halt returns with `status`. The first call counts. Any
/// thread.
void request_halt(int status, bool flush);
struct HaltRequest {
  int status;
  bool flush;
};
HaltRequest wait_for_halt();
/// The end, with what ports have not got rid of yet: from now on no process runs, only ports do.
/// Waits (not for ever) for slices that have begun.
void hold_processes();

}  // namespace vmrun

#pragma once

#include <cstdint>

#include "vm/process/process.hpp"
#include "vm/process/timer_wheel.hpp"

/// A scheduler as what it runs sees it: the processes on it, messages, built-in functions. The rest
/// of it is vm/sched's (Scheduler in scheduler.hpp is derived from this). Its own thread only, but
/// for the timers and a look at `current`.
namespace vmrun {

inline constexpr unsigned kMaxXRegs = 1024;

/// Which copies of the instructions a slice runs (interpreter.cpp).
enum class Instructions : std::uint8_t {
  kOrdinary,
  kCountReturns,  // the stack is deep: returning from all that may take longer than a slice
  kTraced,        // they fire probes; and count returns, if the stack is deep
};

struct Core {
  explicit Core(unsigned number = 0) : number(number), timers(number ? number - 1 : 0) {}

  const unsigned number;                                // 1…S; 0: not one of the set
  Instructions instructions = Instructions::kOrdinary;  // of the slice that runs
  Relaxed<Process*> current;
  Term x[kMaxXRegs + 1];   // argument registers of the running process
  std::int32_t slice = 0;  // reductions the running process started with
  TimerWheel timers;       // any thread, see there
  // Structures for new processes (table.hpp).
  Process* free_processes = nullptr;
  unsigned free_process_count = 0;
};

/// That of the calling thread, nullptr on threads that are no schedulers.
extern constinit thread_local Core* current_core;
inline Core* this_core() { return current_core; }

/// Puts a process that is not on any run queue on one: the caller's own, or from other threads that
/// where it ran last. After a push or notify said so. A plain call, for it is on the way of every
/// message that wakes somebody: vm/sched/scheduler.cpp has it.
void make_runnable(Process& p);
/// The same of one that has not waited: it comes back from a dirty scheduler.
void make_runnable_again(Process& p);
/// The same as the first for who has asked whether anyone looks at run queues.
void make_runnable_unobserved(Process& p);

}  // namespace vmrun

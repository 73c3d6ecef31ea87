// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "vm/process/process.hpp"
#include "vm/process/process_upcalls.hpp"
#include "vm/process/timer_wheel.hpp"

/// A scheduler as seen by what it runs: processes, messages, built-in functions. vm/sched has the
/// rest (Scheduler in scheduler.hpp is derived from this). Only its own thread uses it, except that
/// other threads use the timers and read `current`.
namespace vmrun {

inline constexpr unsigned kMaxXRegs = 1024;
inline constexpr unsigned kMaxFloatRegs = 1024;

/// The copy of the instructions that a slice runs (interpreter.cpp).
enum class Instructions : std::uint8_t {
  kOrdinary,
  kCountReturns,  // the stack is deep: returning from all of it may take longer than a slice
  kTraced,        // fires probes; and counts returns if the stack is deep
};

/// What tracers that follow frame pointers find where one points to (psABI for x86-64, "The stack
/// frame").
struct FrameRecord {
  const void* next = nullptr;            // the caller's frame record
  const void* return_address = nullptr;  // in the caller
};

struct Core {
  explicit Core(unsigned number = 0) : number(number), timers(number ? number - 1 : 0) {}

  const unsigned number;                                // 1…S; 0: not a numbered scheduler
  Instructions instructions = Instructions::kOrdinary;  // of the slice that runs
  Relaxed<Process*> current;
  // The frame pointer of machine code points to the last record, from where it reaches x too
  // (vm/code/machine_code.hpp). The functions have no frame pointers of their own.
  FrameRecord thread_frame;       // of the function that runs slices: returns to the thread's
  FrameRecord scheduler_frame;    // of the interpreter: returns to the scheduler's loop
  FrameRecord interpreter_frame;  // of machine code: returns to the interpreter
  Term x[kMaxXRegs + 1];          // argument registers of the running process
  // Float registers, which are used between two calls only. They are not in the interpreter's
  // frame, since tools that copy the top of a stack would then copy nothing else.
  double f[kMaxFloatRegs];
  std::int32_t slice = 0;  // reductions the running process started with
  TimerWheel timers;       // any thread, see there
  // Structures for new processes (process_table.hpp).
  Process* free_processes = nullptr;
  unsigned free_process_count = 0;
};

/// The core of the calling thread, nullptr on threads that are not schedulers.
extern constinit thread_local Core* current_core;
inline Core* this_core() { return current_core; }

/// Puts a process that is not on any run queue on one: the caller's own, or from other threads that
/// where it ran last. After a push or notify said so.
inline void make_runnable(Process& p) { process_upcalls.make_runnable(p); }
/// Likewise for a process that has not waited: it comes back from a dirty scheduler.
inline void make_runnable_again(Process& p) { process_upcalls.make_runnable_again(p); }
/// As make_runnable for callers that have asked whether anyone looks at run queues.
inline void make_runnable_unobserved(Process& p) { process_upcalls.make_runnable_unobserved(p); }

}  // namespace vmrun

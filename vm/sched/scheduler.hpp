#pragma once

#include <cstdint>

#include "vm/process/process.hpp"

/// One operating-system thread that runs processes: its run queues, timers, argument registers. Owned by the scheduler set; only its own thread touches it, but
/// for what is marked otherwise.
namespace vmrun {

inline constexpr unsigned kMaxXRegs = 1024;

struct Scheduler {
  unsigned number = 0;              // 1…S
  Process* current = nullptr;
  Term x[kMaxXRegs + 1];            // argument registers of the running process
};

/// The scheduler of the calling thread, nullptr on other threads.
Scheduler* this_scheduler();

}  // namespace vmrun

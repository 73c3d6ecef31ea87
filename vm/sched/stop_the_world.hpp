// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <mutex>
#include <vector>

#include "vm/sched/scheduler.hpp"

/// Stops the world: as long as the object lives, every scheduler waits between two slices, so that
/// another thread can read processes, ports and tables. Used by threads that are not schedulers.
/// One thread at a time may hold it; others wait.
namespace vmrun {

class StopTheWorld {
 public:
  /// Waits until all schedulers have stopped, at most for `patience`, because the code that a
  /// scheduler runs need not yield. Such a scheduler goes on with its slice and stops at its end.
  explicit StopTheWorld(std::chrono::milliseconds patience);
  ~StopTheWorld();
  StopTheWorld(const StopTheWorld&) = delete;

  /// Whether this scheduler had stopped when the constructor returned.
  bool is_stopped(const Scheduler& s) const { return stopped_[s.number - 1]; }

 private:
  std::unique_lock<std::mutex> only_one_;
  std::vector<bool> stopped_;
};

/// Waits until the world goes on. Called by a scheduler that has been asked to stop.
void stop_for_others(Scheduler& s);

}  // namespace vmrun

#pragma once

#include <chrono>
#include <mutex>
#include <vector>

#include "vm/sched/scheduler.hpp"

/// While it lives the schedulers stand still: each between two slices, so that processes, ports and
/// tables can be looked at from outside. For a thread that is none of them; one at a time, others
/// wait.
namespace vmrun {

class StopTheWorld {
 public:
  /// Waits until all stand, or for so long: what a scheduler runs need not yield. Such a one goes
  /// on with its slice, and stands when that ends.
  explicit StopTheWorld(std::chrono::milliseconds patience);
  ~StopTheWorld();
  StopTheWorld(const StopTheWorld&) = delete;

  /// Whether this one stood when the constructor returned.
  bool is_stopped(const Scheduler& s) const { return stopped_[s.number - 1]; }

 private:
  std::unique_lock<std::mutex> alone_;
  std::vector<bool> stopped_;
};

/// A scheduler that has been asked to.
void stop_for_others(Scheduler& s);

}  // namespace vmrun

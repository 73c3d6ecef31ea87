#pragma once

#include <chrono>
#include <mutex>
#include <vector>

#include "vm/sched/scheduler.hpp"

/// While it lives the schedulers stand still: each between two slices, so that processes, ports and
/// tables can be looked at from outside. For a thread that is none of them; one at a time, others
/// wait.
namespace vmrun {

class Standstill {
 public:
  /// Waits until all stand, or for so long: what a scheduler runs need not yield. Such a one goes
  /// on with its slice, and stands when that ends.
  explicit Standstill(std::chrono::milliseconds patience);
  ~Standstill();
  Standstill(const Standstill&) = delete;

  /// Whether this one stood when the constructor returned.
  bool stands(const Scheduler& s) const { return stood_[s.number - 1]; }

 private:
  std::unique_lock<std::mutex> alone_;
  std::vector<bool> stood_;
};

/// A scheduler that has been asked to.
void stand_still(Scheduler& s);

}  // namespace vmrun

#pragma once

#include "vm/process/dirty_job.hpp"

/// How much built-in functions do before they find that it is too much for a scheduler, and begin
/// again elsewhere (column `long` of bif.tab). They count as they go, so a short call pays for no
/// look at its arguments. A step is some ten nanoseconds: a list cell, an element, some bytes of a
/// binary. Any thread.
namespace vmrun {

inline constexpr Word kBytesPerStep = 8;

/// The steps of one call. Once they are used up the function leaves off what it is doing and says
/// run_on_dirty. Never used up on a dirty scheduler, which is found out when they would be.
class ReductionBudget {
 public:
  ReductionBudget() = default;
  explicit ReductionBudget(SWord most) : at_first_(most), left_(most) {}
  /// False: they are used up.
  bool spend(Word steps) {
    left_ -= static_cast<SWord>(steps);
    return left_ >= 0 || goes_on();
  }
  bool used_up() const { return left_ < 0; }
  /// How many may be spent at once.
  SWord left() {
    if (dirty_thread_kind() != DirtyKind::kNone) left_ = kNeverUsedUp;
    return left_;
  }
  /// How many have been spent; 0 if they were too many to count.
  SWord spent() const { return left_ > at_first_ ? 0 : at_first_ - left_; }

 private:
  static constexpr SWord kNeverUsedUp = SWord{1} << 61;
  [[gnu::cold, gnu::noinline]] bool goes_on() {
    if (dirty_thread_kind() == DirtyKind::kNone) return false;
    left_ = kNeverUsedUp;
    return true;
  }

  SWord at_first_ = static_cast<SWord>(kStepsOnScheduler);
  SWord left_ = at_first_;
};

/// The length of a proper list, -1 for anything else. False: it is too long for the calling thread.
[[nodiscard]] inline bool length_here(Term list, SWord* length) {
  SWord most = static_cast<SWord>(kStepsOnScheduler), left = most;
  for (; list.is_list(); list = list.tail())
    if (--left < 0) [[unlikely]] {
      if (dirty_thread_kind() == DirtyKind::kNone) return false;
      left += SWord{1} << 60;
      most += SWord{1} << 60;
    }
  *length = list.is_nil() ? most - left : -1;
  return true;
}

}  // namespace vmrun

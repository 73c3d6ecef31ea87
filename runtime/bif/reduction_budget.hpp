// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/process/dirty_job.hpp"

/// How much work a built-in function does on a scheduler before it starts over on a dirty scheduler
/// (column `long` of bif.tab). Functions count as they go, so a short call does not pay for
/// inspecting its arguments. A step takes some ten nanoseconds: a list cell, an element, some bytes
/// of a binary. Any thread.
namespace vmrun {

inline constexpr Word kBytesPerStep = 8;

/// The budget of one call, in steps. When it is used up, the function stops and returns
/// run_on_dirty. On a dirty scheduler the budget is never used up; that is checked only when it
/// would be.
class ReductionBudget {
 public:
  ReductionBudget() = default;
  explicit ReductionBudget(SWord most) : at_first_(most), left_(most) {}
  /// Returns false when the budget is used up.
  bool spend(Word steps) {
    left_ -= static_cast<SWord>(steps);
    return left_ >= 0 || goes_on();
  }
  bool used_up() const { return left_ < 0; }
  /// How many steps may be spent at once.
  SWord left() {
    if (dirty_thread_kind() != DirtyKind::kNone) left_ = kNeverUsedUp;
    return left_;
  }
  /// How many steps have been spent; 0 if there were too many to count.
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

/// Stores the length of a proper list, or -1 for any other term. Returns false if the list is too
/// long for the calling thread.
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

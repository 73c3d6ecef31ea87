#pragma once

#include "vm/process/dirty_job.hpp"

/// How much built-in functions do before they find that it is too much for a scheduler, and begin
/// again elsewhere (column `long` of bif.tab). They count as they go, so a short call pays for no
/// look at its arguments. A step is some ten nanoseconds: a list cell, an element, some bytes of a
/// binary. Any thread.
namespace vmrun {

inline constexpr Word kBytesPerStep = 8;

/// The steps of one call. Once they are used up the function leaves off what it is doing and says
/// run_elsewhere. Never used up on a dirty scheduler.
class StepsHere {
 public:
  /// False: they are used up.
  bool spend(Word steps) { return (left_ -= static_cast<SWord>(steps)) >= 0; }
  bool used_up() const { return left_ < 0; }
  SWord left() const { return left_; }

 private:
  SWord left_ = steps_here();
};

/// The length of a proper list, -1 for anything else. False: it is too long for the calling thread.
[[nodiscard]] inline bool length_here(Term list, SWord* length) {
  SWord n = 0;
  for (; list.is_list(); list = list.tail())
    if (++n > static_cast<SWord>(kStepsOnScheduler) && dirty_thread_kind() == DirtyKind::kNone) [[unlikely]]
      return false;
  *length = list.is_nil() ? n : -1;
  return true;
}

}  // namespace vmrun

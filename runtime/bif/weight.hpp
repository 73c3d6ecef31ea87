#pragma once

#include "vm/process/dirty_job.hpp"

/// How much work the arguments of built-in functions are, so that those with much to do leave the
/// scheduler (column `long` of bif.tab). A step is some ten nanoseconds: a list cell, an element, a
/// map's pair, some bytes of a binary. The caller's own terms; any thread.
namespace vmrun {

inline constexpr Word kBytesPerStep = 8;

/// Whether what is in `t`, at any depth, is more than kStepsOnScheduler steps. Looks at no more
/// than that much, so it may be asked of anything. What is nested very deeply counts as much. Never
/// true on a dirty scheduler.
bool weighs_much(Term t);

/// The length of a proper list, -1 for anything else. False: it is too long for the calling thread.
[[nodiscard]] inline bool length_here(Term list, SWord* length) {
  const SWord most = steps_here();
  SWord n = 0;
  for (; list.is_list(); list = list.tail())
    if (++n > most) return false;
  *length = list.is_nil() ? n : -1;
  return true;
}

}  // namespace vmrun

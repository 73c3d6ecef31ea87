#pragma once

#include "vm/process/process.hpp"

namespace vmrun {

/// The running process leaves the scheduler as soon as it can; what it has not used of its slice is
/// not counted as done.
inline void give_up_slice(Process& p) {
  if (p.reductions <= 0) return;
  p.reductions_done += -static_cast<Word>(p.reductions);  // the end of the slice adds all of it
  p.reductions = 0;
}

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/process/process.hpp"

namespace vmrun {

/// Makes the running process leave the scheduler as soon as it can. The unused part of its slice
/// does not count as done.
inline void give_up_slice(Process& p) {
  if (p.reductions <= 0) return;
  p.reductions_done += -static_cast<Word>(p.reductions);  // the end of the slice adds the whole slice
  p.reductions = 0;
}

}  // namespace vmrun

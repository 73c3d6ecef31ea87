// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/base/word.hpp"

namespace vmrun {

/// How large a process may become (max_heap_size of process_flag, spawn options and +hmax), and
/// what happens to one that is larger.
struct MaxHeap {
  Word words : 60 = 0;        ///< 0: no limit
  bool kill : 1 = true;       ///< it is killed
  bool log : 1 = true;        ///< the logger is told
  bool binaries : 1 = false;  ///< binaries outside its heap count too
};
static_assert(sizeof(MaxHeap) == sizeof(Word));  // a process has one

}  // namespace vmrun

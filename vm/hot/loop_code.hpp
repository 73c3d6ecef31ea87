// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "vm/hot/x86.hpp"

/// The interpreter's loop as machine code: which registers of the processor it keeps what in.
namespace vmrun {

struct LoopCode {
  int at;     // register: address of our instruction
  int stack;  // register: top of the process's stack
};

/// cases: by operation. False: the loop's code is not what is expected (not optimised, say). It is
/// read at the first call, which takes some 20 ms; there is one loop. Any thread.
bool look_at_loop(std::span<const void* const> cases, LoopCode* out);

}  // namespace vmrun

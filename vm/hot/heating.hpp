// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/base/word.hpp"

/// Which functions get hot code (vm/code/hot_code.hpp): those that are seen at work again and again
/// when slices are used up.
namespace vmrun {

/// How often a function has to be seen; 0: none gets such code. Before processes run.
inline constexpr unsigned kHotAfter = 3;
void set_hot_after(unsigned times);

// What vm/code calls: see code/code_upcalls.hpp.

struct LoopView;
struct Module;
struct Process;
void look_for_heat(const Process& p, const Word* at, const LoopView& loop);
void cool(const Word* at);
void forget_heat(const Module& m);

struct HotCodeUse {
  Word functions, bytes;
  bool is_made;  // false: not in this build, or not on this system, or not wanted
};
/// Any thread.
HotCodeUse hot_code_use();

}  // namespace vmrun

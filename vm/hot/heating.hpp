// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "vm/base/word.hpp"

/// Which functions get machine code (vm/code/hot_code.hpp): those that are seen at work again and
/// again when slices are used up.
namespace vmrun {

/// How often a function has to be seen; 0: none gets such code. Before processes run.
inline constexpr unsigned kHotAfter = 3;
void set_hot_after(unsigned times);

/// Which functions the compiler (vm/jit) makes code of: none, those that are seen so often, or each
/// when it is loaded.
enum class Compiled : std::uint8_t { kNone, kHot, kAll };
/// Before modules are loaded. Returns false if that is not possible here. exits_seed: see
/// vm/jit/compile_function.hpp, leave_more_often.
bool enable_compiler(Compiled which, std::uint64_t exits_seed);

// What vm/code calls: see code/code_upcalls.hpp.

struct Module;
struct Process;
void look_for_heat(const Process& p, const Word* at);
void cool(const Word* at);
void forget_heat(const Module& m);
void compile_all(const Module& m);
void guessed_wrong(const Word* at);

struct HotCodeUse {
  Word functions, bytes;
  bool is_made;  // false: not in this build, or not on this system, or not wanted
};
/// Any thread.
HotCodeUse hot_code_use();

}  // namespace vmrun

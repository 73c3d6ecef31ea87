// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "vm/base/word.hpp"
#include "vm/hot/codes.hpp"
#include "vm/hot/refusals.hpp"
#include "vm/jit/processor.hpp"
#include "vm/term/term.hpp"

/// Which functions get machine code (vm/code/hot_code.hpp): those that are seen at work again and
/// again when slices are used up. A thread of its own compiles them, which begins with the first of
/// them and sleeps while there is nothing to do.
namespace vmrun {

/// How often a function has to be seen; 0: none gets such code. Before processes run.
inline constexpr unsigned kHotAfter = 1;
void set_hot_after(unsigned times);

/// Which functions the compiler (vm/jit) makes code of: none, those that are seen so often, or each
/// when it is loaded.
enum class Compiled : std::uint8_t { kNone, kHot, kAll };
/// How much there may be, in megabytes of pages: at most, and if nothing is said.
inline constexpr unsigned kMostHotMegabytes = jit::kAreaBytes >> 20, kUsualHotMegabytes = 64;
/// Before modules are loaded. Returns false if that is not possible here. exits_seed: see
/// vm/jit/compile_function.hpp, leave_more_often.
bool enable_compiler(Compiled which, std::uint64_t exits_seed, unsigned megabytes);

// What vm/code calls: see code/code_upcalls.hpp.

struct Module;
struct Process;
void look_for_heat(const Process& p, const Word* at);
void cool(const Word* at);
bool forget_heat(Module& m);
void compile_all(const Module& m);
void guessed_wrong(const Word* at, const Term* x, const Term* y);

/// Returns when no function waits to be compiled. For tests; not on a scheduler.
void await_compiler();

/// False: not in this build, or not on this system, or not wanted. Any thread.
bool hot_code_is_made();
void tell_debuggers_of_machine_code();  // vm/base/debugger_facts.hpp

struct HotCodeUse {
  Codes::Use codes{};
  Word limit = 0, compiled_again = 0, waiting = 0;
  Refusals::Counts refused{};                   // by NoCode
  std::vector<Refusals::Refusal> last_refused;  // newest first
};
/// Any thread.
HotCodeUse hot_code_use();

}  // namespace vmrun

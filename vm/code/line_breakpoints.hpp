// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "vm/term/fun.hpp"
#include "vm/term/term.hpp"

/// Breakpoints on lines, for a debugger (erl_debugger of OTP 28). They exist with +D only, and in
/// modules that were compiled with +beam_debug_info: in front of each line that can be executed
/// stands the instruction line_breakpoint_off, which does nothing; setting a breakpoint makes it
/// line_breakpoint. As with native calls only the operation's 16 bits are stored.
///
/// A process that meets a breakpoint calls erts_internal:breakpoint(Module, Function, Arity, Line),
/// or in a script vmrun_debugger:breakpoint/4, which tells the debugger and waits. Its live
/// registers lie on the stack meanwhile, as the frame '<breakpoint>':
///
///   …  frame of the function with the line
///      return address: the instruction behind the breakpoint
///      x registers, the last one first
///      return address: line_breakpoint_end (process/return_address.hpp)
///   …  frame of erts_internal:breakpoint/4
namespace vmrun {

struct Process;

/// Whether there are debuggers (+D), and whether modules are loaded with breakpoints then. Any
/// thread.
inline std::atomic<bool> debugger_supported{false}, line_breakpoints_on{true};
inline bool wants_line_breakpoints() {
  return debugger_supported.load(std::memory_order_relaxed) &&
         line_breakpoints_on.load(std::memory_order_relaxed);
}

enum class LineBreakpointResult : std::uint8_t {
  kDone,
  kNoModule,           // it is not loaded
  kUnsupportedModule,  // it was loaded without breakpoints
  kNoLine,             // it has no such line
  kUnsupportedLine     // nothing can stop there
};
/// Sets or removes the breakpoints of a line in the current code of a module. Any thread.
LineBreakpointResult set_line_breakpoint(Term module, Word line, bool on);
/// Whether the instruction, which a Module::LineBreakpoint names, is enabled. The thread must hold
/// an epoch.
bool is_line_breakpoint_on(const Word* at);

/// A process meets the breakpoint `at`; `next` is the following instruction. The stack is stored
/// and has room. Prepares the call of the returned function; nullptr: the process goes on.
const Export* begin_line_breakpoint(Process& p, const Word* at, const Word* next, Term* x, unsigned live);

}  // namespace vmrun

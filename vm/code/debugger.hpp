#pragma once

#include <cstddef>
#include <optional>

#include "vm/term/term.hpp"

/// Functions whose calls a debugger takes: their first instruction, where all calls arrive, is
/// call_debugger, which calls breakpoint(Module, Function, Arguments) of the process's error
/// handler in their place. As with native calls only the operation's 16 bits are stored, and what
/// stood there is remembered here.
namespace vmrun {

/// Makes it so, or undoes it, for functions of the current code of a module: of all names and
/// arities unless they are given. Returns how many functions match; native ones do not. Any thread.
std::size_t set_debugged(Term module, std::optional<Term> function, std::optional<unsigned> arity, bool on);

}  // namespace vmrun

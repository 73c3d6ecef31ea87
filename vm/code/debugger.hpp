// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include "vm/term/term.hpp"

/// Functions whose calls a debugger takes. All calls arrive at a function's first instruction; it
/// is replaced by call_debugger, which calls breakpoint(Module, Function, Arguments) of the
/// process's error handler instead. As with native calls only the operation's 16 bits are stored,
/// and the original operation is kept here.
namespace vmrun {

/// Sets or removes this for functions of the current code of a module: of all names and arities
/// unless they are given. Returns how many functions match; native functions do not match. Any
/// thread.
std::size_t set_debugged(Term module, std::optional<Term> function, std::optional<unsigned> arity, bool on);

}  // namespace vmrun

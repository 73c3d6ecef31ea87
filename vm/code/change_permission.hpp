#pragma once

#include "vm/process/process.hpp"

/// The permission to change code: one process can keep it to itself, and whoever else loads,
/// deletes or purges a module or a library of native functions waits meanwhile, suspended. While
/// nobody has it all may. It is for tests: see runtime/bif/internal_state.cpp.
namespace vmrun {

/// For built-in functions that change code, first of all: true when p may. Else they return the
/// non-value (suspend_and_retry has been said), and are called again.
[[nodiscard]] bool may_change_code(Process& p);

/// True: only p may from now on. Else, as above, it is called again: somebody else has it.
[[nodiscard]] bool take_code_permission(Process& p);
/// All may again, and those who wait go on. False: p has not kept it.
bool give_code_permission_back(Process& p);

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/process/process.hpp"

/// The permission to change code. One process can keep it to itself; meanwhile every other process
/// that loads, deletes or purges a module or a library of native functions is suspended until it is
/// given back. While no process has taken it, all may change code. It is for tests: see
/// runtime/bif/internal_state.cpp.
namespace vmrun {

/// A built-in function that changes code calls this first. Returns true when p may change code.
/// Otherwise suspend_and_retry has been called; the built-in function returns the non-value and is
/// called again.
[[nodiscard]] bool may_change_code(Process& p);

/// Takes the permission: from now on only p may change code. Returns false when another process has
/// it; the built-in function is then called again, as above.
[[nodiscard]] bool take_code_permission(Process& p);
/// Gives the permission back and wakes the processes that wait for it. Returns false when p does
/// not have it.
bool give_code_permission_back(Process& p);

}  // namespace vmrun

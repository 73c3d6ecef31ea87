// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/process/process.hpp"

/// Registered names of processes and ports. Looking a name up takes no lock: it is two loads,
/// indexed by the atom. Changes are serialised.
namespace vmrun {

/// Returns the pid or port registered under an atom, or the non-value. Any thread.
Term whereis(Term name);

enum class RegisterResult { kOk, kNameTaken, kHasName, kNoProcess };
/// Registers a local pid or port. The caller refuses the name `undefined`. Any scheduler.
RegisterResult register_name(Term name, Term who);
/// Returns what register_name would return now.
RegisterResult why_not_register(Term name, Term who);
/// Returns false when the name is not registered.
bool unregister_name(Term name);
/// Unregisters the name of a process that exits or a port that closes (its state says so already).
/// `has` is its registered_name.
void give_up_name(std::atomic<std::uint32_t>& has);

/// Calls visit with each registered name, in no particular order.
void for_each_name(void (*visit)(void* context, Term name), void* context);

}  // namespace vmrun

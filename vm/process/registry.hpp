#pragma once

#include "vm/process/process.hpp"

/// Registered names. Looking a name up takes no lock: two loads, indexed by the atom. Changes are serialised.
namespace vmrun {

/// The pid registered under an atom, or the non-value. Any thread.
Term whereis(Term name);

enum class RegisterResult { kOk, kNameTaken, kHasName, kNoProcess };
/// pid: a local pid; undefined is refused by the caller. Any scheduler.
RegisterResult register_name(Term name, Term pid);
/// False when nobody has that name.
bool unregister_name(Term name);
/// p exits: gives up its name.
void unregister_process(Process& p);

/// Calls visit with each registered name, in no order.
void for_each_name(void (*visit)(void* context, Term name), void* context);

}  // namespace vmrun

#pragma once

#include "vm/process/process.hpp"

/// Registered names of processes and ports. Looking a name up takes no lock: two loads, indexed by
/// the atom. Changes are serialised.
namespace vmrun {

struct Port;

/// The pid or port registered under an atom, or the non-value. Any thread.
Term whereis(Term name);

enum class RegisterResult { kOk, kNameTaken, kHasName, kNoProcess };
/// who: a local pid or port; the name `undefined` is refused by the caller. Any scheduler.
RegisterResult register_name(Term name, Term who);
/// False when nobody has that name.
bool unregister_name(Term name);
/// p exits: gives up its name.
void unregister_process(Process& p);
/// A port closes (its state says so already).
void unregister_port(Port& p);

/// Calls visit with each registered name, in no order.
void for_each_name(void (*visit)(void* context, Term name), void* context);

}  // namespace vmrun

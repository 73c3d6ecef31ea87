#pragma once

#include "vm/process/process.hpp"

/// Registered names of processes and ports. Looking a name up takes no lock: two loads, indexed by
/// the atom. Changes are serialised.
namespace vmrun {

/// The pid or port registered under an atom, or the non-value. Any thread.
Term whereis(Term name);

enum class RegisterResult { kOk, kNameTaken, kHasName, kNoProcess };
/// who: a local pid or port; the name `undefined` is refused by the caller. Any scheduler.
RegisterResult register_name(Term name, Term who);
/// What register_name would say now.
RegisterResult why_not_register(Term name, Term who);
/// False when nobody has that name.
bool unregister_name(Term name);
/// A process exits or a port closes (its state says so already): has is its registered_name.
void give_up_name(std::atomic<std::uint32_t>& has);

/// What names, and the links of process_info, need to know of ports. Filled in by vm/port before
/// main begins. Any scheduler.
struct NamedPorts {
  /// Where the port keeps its name; nullptr when it is gone.
  std::atomic<std::uint32_t>* (*name_of)(Term port) = nullptr;
  /// Sequentially consistent: false once it has begun to close.
  bool (*is_open)(Term port) = nullptr;
  /// False for the port of a file, and when it is gone: programs do not see its links.
  bool (*is_seen_by_programs)(Term port) = nullptr;
};
extern constinit NamedPorts named_ports;

/// Calls visit with each registered name, in no order.
void for_each_name(void (*visit)(void* context, Term name), void* context);

}  // namespace vmrun

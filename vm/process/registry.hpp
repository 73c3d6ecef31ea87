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

/// Functions about ports that names, and the links of process_info, need. vm/port sets them before
/// main begins. Any scheduler.
struct NamedPorts {
  /// Returns where the port stores its name; nullptr when the port is gone.
  std::atomic<std::uint32_t>* (*name_of)(Term port) = nullptr;
  /// Returns false once the port has begun to close. Sequentially consistent.
  bool (*is_open)(Term port) = nullptr;
  /// Returns false for the port of a file, whose links programs do not see, and when the port is
  /// gone.
  bool (*is_seen_by_programs)(Term port) = nullptr;
};
extern constinit NamedPorts named_ports;

/// Calls visit with each registered name, in no particular order.
void for_each_name(void (*visit)(void* context, Term name), void* context);

}  // namespace vmrun

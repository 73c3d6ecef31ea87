#pragma once

#include "vm/message/destination.hpp"

/// Messages to processes. Called in the sending process's thread. Never collects.
namespace vmrun {

/// `To ! Message`: to is a local pid, a registered name, {Name, Node}, an alias or other reference,
/// a port or a remote pid. False with the exception set (badarg: no such name, not a destination),
/// or with BifAction::kDirty for a large message: a dirty scheduler sends it, and this is
/// called again when that is done, with the same arguments (dirty_job.hpp). Sending to what has
/// gone is no error. Charges reductions for the copy.
[[nodiscard]] bool send_message(Process& from, Term to, Term message);

/// The same for erlang:send/3, which says what would have been waited for.
SendResult send_with_options(Process& from, Term to, Term message, SendOptions options);

/// From native code: to a local pid, as a message of `from`, whose thread this is, or with nullptr
/// of nobody. False when there is no such process. With nullptr any thread that holds an epoch.
bool send_from_native(Process* from, Term to, Term message);

/// A message the VM itself makes: `f->message` set, its terms inside `f`. Takes the fragment over.
/// False when there is no such process. Any thread that holds an epoch (schedulers do; see
/// epoch.hpp).
bool send_from_vm(Term pid, Fragment* f);
/// The same with a copy of terms outside the sender's heap.
bool send_from_vm(Term pid, Term message);

}  // namespace vmrun

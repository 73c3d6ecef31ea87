// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/message/destination.hpp"

/// Sends messages to processes. Called in the sending process's thread. Never collects.
namespace vmrun {

/// `To ! Message`. `to` is a local pid, a registered name, {Name, Node}, an alias or other
/// reference, a port or a remote pid. Returns false with the exception set (badarg: no such name,
/// not a destination), or with BifAction::kDirty for a large message. A dirty scheduler sends that,
/// and then this is called again with the same arguments (dirty_job.hpp). Sending to something that
/// has ended is not an error. Charges reductions for the copy.
[[nodiscard]] bool send_message(Process& from, Term to, Term message);

/// As above, for erlang:send/3, whose result reports what the sender would have had to wait for.
SendResult send_with_options(Process& from, Term to, Term message, SendOptions options);

/// Sends from native code to a local pid: as a message of `from`, which the calling thread runs, or
/// with nullptr without a sender. Returns false when there is no such process. With nullptr any
/// thread that holds an epoch may call it.
bool send_from_native(Process* from, Term to, Term message);

/// Sends a message that the VM itself makes: `f->message` is set, its terms lie inside `f`. Takes
/// the fragment over. Returns false when there is no such process. Any thread that holds an epoch
/// (schedulers do; see epoch.hpp).
bool send_from_vm(Term pid, Fragment* f);
/// As above, with a copy of a term outside the sender's heap.
bool send_from_vm(Term pid, Term message);

}  // namespace vmrun

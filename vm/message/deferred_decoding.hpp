// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/process/process_state.hpp"

/// Deferred decoding of messages from other nodes.
///
/// A large message, the reason of a signal, or the arguments of a process that is spawned from
/// another node reaches its receiver undecoded (SignalKind::kUndecoded), because decoding it would
/// keep the thread that reads the connection busy for long. The receiver decodes it on a dirty
/// scheduler, between two slices. Everything that arrived behind the message waits until then and
/// is not counted as being in the mailbox.
///
/// A message that turns out not to be a term (SignalKind::kUndecodable) waits beside the mailbox,
/// counted as one of its messages, until the receiver reads its messages: in a receive, or when
/// process_info asks for them. Then the connection that brought it is closed. This is as in OTP,
/// which does not decode a message earlier either, so a sender of bad bytes harms only the
/// receiver that reads them. Called by the owner of the process only.
namespace vmrun {

inline bool has_deferred_decoding(const Process& p) { return p.extra && p.extra->deferred_decoding; }
/// Keeps f, which has arrived undecoded, and the fragments behind it (its `next` list).
void hold_back(Process& p, Fragment* f);
/// Decodes the first deferred message, and handles the fragments behind it up to the next one. Runs
/// on a dirty scheduler.
void decode_first_deferred(Process& p);
/// Keeps f, which has arrived and is not a term.
void keep_undecodable(Process& p, Fragment* f);
/// Drops the undecodable messages of p, which has some, and closes their connections.
void look_at_undecodable(Process& p);
/// As look_at_undecodable if p waits for a message; otherwise it is tried again after the next
/// slice. Called between two slices.
void settle_undecodable(Process& p);

/// Drops undecodable messages when the process ends without reading them.
void drop_undecodable(Process& p);
/// Takes all deferred fragments from a process that ends.
Fragment* take_deferred_decoding(Process& p);

/// Keeps f, which has arrived behind the signal that ends the process, and its `next` list. They
/// are answered once the process has released what it had, so that a sender that learns of the end
/// finds the name free.
void leave_to_end(Process& p, Fragment* f);
/// Takes the fragments that leave_to_end has kept.
Fragment* take_left_to_end(Process& p);

}  // namespace vmrun

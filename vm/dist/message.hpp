// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/dist/channel.hpp"
#include "vm/dist/wire/wire.hpp"
#include "vm/message/receiver.hpp"

/// Messages, reasons and arguments from other nodes for processes of this one. Large ones reach
/// their receiver as bytes and are decoded in the receiver's time (message/deferred_decoding.hpp),
/// because the thread that reads the connection has other processes to serve. Bytes that turn out
/// not to be a term end the connection, if it is still up. For a message that happens when its
/// receiver reads it.
namespace vmrun::dist {

/// Gives a message to p, or to p's alias if `alias` is not nil. priority: to a priority alias, in
/// front of ordinary messages. The payload may be moved away. Called by the thread that holds the
/// input, under an epoch.
void give_message(Process& p, const Route& route, EncodedPayload& payload, Term token, Term alias,
                  bool priority = false);
/// Gives an exit signal to a process or an alias, or the DOWN signal of a monitor to a process; the
/// payload is its reason. Returns false if that is not a term. Called like give_message.
[[nodiscard]] bool give_exit(Term to, const Route& route, EncodedPayload& payload, ExitSignal signal);
[[nodiscard]] bool give_down(Term to, const Route& route, EncodedPayload& payload, DownSignal signal);
/// Gives `child`, which has not begun to run, its arguments: the payload is a list of `count`
/// terms. For large lists.
void give_arguments(Process& child, const Route& route, EncodedPayload& payload, SWord count);
[[nodiscard]] bool is_decoded_at_once(EncodedPayload& payload);

// What vm/message needs of them: message/message_upcalls.hpp.

Fragment* decode_late(const Fragment& undecoded);
void refuse_late(const Fragment& undecodable);

}  // namespace vmrun::dist

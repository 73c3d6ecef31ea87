#pragma once

#include "vm/dist/channel.hpp"
#include "vm/dist/wire/wire.hpp"
#include "vm/message/receiver.hpp"

/// Messages, reasons and arguments from other nodes for processes of this one. Large ones reach
/// their receiver as bytes and are decoded in the receiver's time
/// (message/deferred_decoding.hpp), because the thread that reads the connection has other
/// processes to serve. Bytes that turn out not to be a term then end the connection, if it is still
/// there; those of a message do so once its receiver reads it.
namespace vmrun::dist {

/// For p, or for the alias of p if it is not nil. The payload may be moved away. By who holds the
/// input, under an epoch.
void give_message(Process& p, const Route& route, EncodedPayload& payload, Term token, Term alias);
/// An exit signal, or the end of what somebody here monitors; the payload is its reason. False: it
/// is no term. The same rules.
[[nodiscard]] bool give_exit(Term to, const Route& route, EncodedPayload& payload, ExitSignal signal);
[[nodiscard]] bool give_down(Term to, const Route& route, EncodedPayload& payload, DownSignal signal);
/// child, which has not begun to run, is called with the list of so many arguments that the payload
/// is. For what is large.
void give_arguments(Process& child, const Route& route, EncodedPayload& payload, SWord count);
[[nodiscard]] bool is_decoded_at_once(EncodedPayload& payload);

}  // namespace vmrun::dist

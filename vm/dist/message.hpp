#pragma once

#include "vm/dist/channel.hpp"
#include "vm/dist/wire/wire.hpp"

/// Messages from other nodes for processes of this one. What is large goes to its receiver as it
/// is, and becomes a term in the receiver's time (message/held_back.hpp): whoever holds the
/// connection's input has others to serve. Bytes that turn out to be no term then end the
/// connection, if it is still there.
namespace vmrun::dist {

/// For p, or for the alias of p if it is not nil. The payload may be moved away. False: it is no
/// term. By who holds the input, under an epoch.
[[nodiscard]] bool give_message(Process& p, const Route& route, EncodedPayload& payload, Term token,
                                Term alias);

}  // namespace vmrun::dist

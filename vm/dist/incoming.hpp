#pragma once

#include "vm/dist/channel.hpp"
#include "vm/dist/wire/input.hpp"

/// What other nodes say, done here: each control message becomes a verb of message/receiver.hpp. By
/// who holds the connection's input, under an epoch.
namespace vmrun::dist {

/// False: no such control message, or not for this node; the connection cannot go on.
[[nodiscard]] bool act_on(const Route& route, Term control, EncodedPayload& payload);

}  // namespace vmrun::dist

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/dist/channel.hpp"
#include "vm/dist/wire/input.hpp"

/// Executes the control messages of other nodes: each becomes a function of message/receiver.hpp.
/// Called by the thread that holds the connection's input, under an epoch.
namespace vmrun::dist {

/// Returns false if there is no such control message, or if it is not for this node; the connection
/// cannot go on.
[[nodiscard]] bool act_on(const Route& route, Term control, EncodedPayload& payload);

}  // namespace vmrun::dist

#pragma once

#include <cstdint>

#include "vm/term/term.hpp"

/// Links with processes of other nodes as the channel to the node sees them, which is what both
/// sides agree on. A link or unlink from the other side changes this at once and reaches the
/// process later, as a signal. What the process has done in between is newer.
namespace vmrun {

enum class RemoteLink : std::uint8_t { kNotConnected, kNone, kHolds };

/// The state of the link between a process of this node and one of another node. Registered by
/// vm/dist. Any thread, under an epoch.
extern RemoteLink (*remote_link)(Term here, Term there);

}  // namespace vmrun

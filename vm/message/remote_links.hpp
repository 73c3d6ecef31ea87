// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "vm/term/term.hpp"

/// Links with processes of other nodes as the channel to the node knows them; both sides agree on
/// this state. A link or unlink from the other side changes it at once, and reaches the process
/// later as a signal. A change that the process has made in between is newer.
namespace vmrun {

enum class RemoteLink : std::uint8_t { kNotConnected, kNone, kHolds };

}  // namespace vmrun

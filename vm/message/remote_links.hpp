#pragma once

#include <cstdint>

#include "vm/term/term.hpp"

/// Links with processes of other nodes as their channel sees them, which is what both sides agree
/// on. A link or unlink from there changes that at once, and reaches the process later, as a
/// signal; what the process has done meanwhile is newer.
namespace vmrun {

enum class RemoteLink : std::uint8_t { kNotConnected, kNone, kHolds };

/// Of a process here with one there. Filled in by vm/dist. Any thread, under an epoch.
extern RemoteLink (*remote_link)(Term here, Term there);

}  // namespace vmrun

#pragma once

#include "vm/process/process_state.hpp"

/// Large messages of other nodes, reasons of signals, and what processes spawned from there are
/// called with reach the receiver undecoded (SignalKind::kUndecoded): who holds the connection's
/// input would be busy for long. The receiver goes to a dirty scheduler for it,
/// between two slices, and all that has come behind such a message stays behind: it is held back
/// until the message is decoded, and not counted as being in the mailbox. Owner only.
namespace vmrun {

/// Makes a message or signal of what has arrived; nullptr when the bytes are bad, which has been
/// dealt with. Any thread, under an epoch. Filled in by vm/dist.
extern Fragment* (*decode_undecoded)(const Fragment& undecoded);

inline bool holds_back(const Process& p) { return p.extra && p.extra->held_back; }
/// f, undecoded, has arrived, and behind it what its `next` leads to.
void hold_back(Process& p, Fragment* f);
/// Decodes what is held back first, and handles what came behind it, up to the next one. On a dirty
/// scheduler.
void decode_held_back(Process& p);
/// At the end of the process: all that is held back, which it does not hold any more.
Fragment* take_held_back(Process& p);

}  // namespace vmrun

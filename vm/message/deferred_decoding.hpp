#pragma once

#include "vm/process/process_state.hpp"

/// Messages of other nodes that are not, or cannot be, decoded.
///
/// Large ones, reasons of signals, and what processes spawned from there are
/// called with reach the receiver undecoded (SignalKind::kUndecoded): who holds the connection's
/// input would be busy for long. The receiver goes to a dirty scheduler for it,
/// between two slices, and all that has come behind such a message stays behind: it is held back
/// until the message is decoded, and not counted as being in the mailbox.
///
/// One that turns out to be no term (SignalKind::kUndecodable) waits beside the mailbox, counted as
/// one of its messages, until the receiver looks through these: it waits in a receive, or messages
/// are asked for (process_info). Then the connection ends that it has come over. As with OTP, where
/// nobody decodes a message before; so who sends such things to a process that does not look yet
/// does no harm to others. Owner only.
namespace vmrun {

/// Makes a message or signal of what has arrived; nullptr when the bytes are bad, which has been
/// dealt with. Any thread, under an epoch. Filled in by vm/dist.
extern Fragment* (*decode_payload_of)(const Fragment& undecoded);

inline bool has_deferred_decoding(const Process& p) { return p.extra && p.extra->deferred_decoding; }
/// f, undecoded, has arrived, and behind it what its `next` leads to.
void hold_back(Process& p, Fragment* f);
/// Decodes what is held back first, and handles what came behind it, up to the next one. On a dirty
/// scheduler.
void decode_first_deferred(Process& p);
/// f, no term, has arrived.
void keep_undecodable(Process& p, Fragment* f);
/// Those of p, which has some, are looked at: gone, and their connections end.
void look_at_undecodable(Process& p);
/// Between two slices: the same if p waits for a message, else that is seen to again.
void settle_undecodable(Process& p);
/// Ends the connection it has come over, if that is still there. Filled in by vm/dist.
extern void (*refuse_undecodable)(const Fragment& undecodable);

/// At the end of the process, which looks at nothing any more.
void drop_undecodable(Process& p);
/// At the end of the process: all that is held back, which it does not hold any more.
Fragment* take_deferred_decoding(Process& p);

/// f has arrived behind the signal that ends the process, and behind it what its `next` leads to.
/// It is answered when the process has let go of what it had: who is told that it is gone finds
/// its name free.
void leave_to_end(Process& p, Fragment* f);
/// At the end of the process: all of that.
Fragment* take_left_to_end(Process& p);

}  // namespace vmrun

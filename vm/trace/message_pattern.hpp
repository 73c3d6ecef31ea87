#pragma once

#include <atomic>

#include "vm/heap/fragment.hpp"
#include "vm/trace/trace.hpp"

/// What erlang:trace_pattern(send | 'receive', …) says: which of the messages of traced processes
/// are told of. One pattern of each for the machine; any thread.
///
/// A pattern for receiving asks for the sender, which a message does not have: while there is one,
/// all slices send the slow way, and messages bring their senders along. Those that were on their
/// way before come from nobody known.
namespace vmrun {

struct MessagePattern {
  bool is_on = true;
  Term specification = Term::nil();  // nil: always
};
void set_send_pattern(const MessagePattern& pattern);
void set_receive_pattern(const MessagePattern& pattern);
/// true, false or the specification.
Term send_pattern_term(Heap& out);
Term receive_pattern_term(Heap& out);

/// Runs a specification for a message, in p's thread: whether a clause matches. *message: what goes
/// along with the event, true for nothing, false when it is not told of. Set by whoever has match
/// specifications.
extern bool (*match_message)(Process& p, Term specification, Term arguments, Term* message);

// Senders in messages.

extern std::atomic<bool> senders_wanted;
inline bool wants_senders() { return senders_wanted.load(std::memory_order_acquire); }
/// Of a fragment that is made while senders are wanted: more room than it needs for all else.
inline constexpr Word kSenderWords = 1;
/// sender: a local pid, or the name of the node that the message comes from.
void put_sender(Fragment& f, Term sender);

}  // namespace vmrun

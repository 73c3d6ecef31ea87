// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "vm/heap/fragment.hpp"
#include "vm/trace/trace.hpp"

/// What erlang:trace_pattern(send | 'receive', …) has set: which messages of traced processes are
/// reported. Each session has one pattern of each kind; any thread.
///
/// A pattern for receiving needs the sender, which a message does not contain. While there is such
/// a pattern, all slices send by the slow path, and messages contain their senders. Messages that
/// were sent before have an unknown sender.
namespace vmrun {

struct MessagePattern {
  bool is_on = true;
  Term specification = Term::nil();  // nil: always
};
void set_send_pattern(TraceSession& session, const MessagePattern& pattern);
void set_receive_pattern(TraceSession& session, const MessagePattern& pattern);
/// Returns true, false or the specification.
Term send_pattern_term(TraceSession& session, Heap& out);
Term receive_pattern_term(TraceSession& session, Heap& out);
/// Returns whether the pattern is `false`, so that no message of processes is reported. Ports obey
/// no other pattern.
bool sends_are_off(TraceSession& session);
/// The session has ended: nobody needs what its patterns have needed.
void forget_message_patterns(TraceSession& session);

// The senders in messages.

extern std::atomic<unsigned> sessions_that_want_senders;
inline bool wants_senders() { return sessions_that_want_senders.load(std::memory_order_acquire); }
/// The extra room of a fragment that is made while senders are wanted.
inline constexpr Word kSenderWords = 1;
/// sender: a local pid, or the name of the node that the message comes from.
void put_sender(Fragment& f, Term sender);

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "vm/heap/fragment.hpp"
#include "vm/trace/trace.hpp"

/// What erlang:trace_pattern(send | 'receive', …) has set: which messages of traced processes are
/// reported. There is one pattern of each kind for the machine; any thread.
///
/// A pattern for receiving needs the sender, which a message does not contain. While there is such
/// a pattern, all slices send by the slow path, and messages contain their senders. Messages that
/// were sent before have an unknown sender.
namespace vmrun {

struct MessagePattern {
  bool is_on = true;
  Term specification = Term::nil();  // nil: always
};
void set_send_pattern(const MessagePattern& pattern);
void set_receive_pattern(const MessagePattern& pattern);
/// Returns true, false or the specification.
Term send_pattern_term(Heap& out);
Term receive_pattern_term(Heap& out);

// The senders in messages.

extern std::atomic<bool> senders_wanted;
inline bool wants_senders() { return senders_wanted.load(std::memory_order_acquire); }
/// The extra room of a fragment that is made while senders are wanted.
inline constexpr Word kSenderWords = 1;
/// sender: a local pid, or the name of the node that the message comes from.
void put_sender(Fragment& f, Term sender);

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "vm/heap/fragment.hpp"
#include "vm/process/core.hpp"
#include "vm/process/process.hpp"

/// Delivery: puts messages and signals into the mailbox of a process of this node. receiver.hpp is
/// about receivers of any kind. Senders are schedulers (or hold an EpochGuard). Signals between two
/// processes arrive in the order of sending, messages included.
///
/// A signal is a fragment. It is pushed onto the outer queue of the receiver's mailbox with one
/// compare-and-swap (process/mailbox.hpp). The receiver takes the whole queue between two slices,
/// or when a receive has looked through the inner queue. It links the messages to the inner queue
/// and handles the other signals (handle.hpp).
///
/// Invariants, each with the test that holds it:
///
///  1. Whatever is pushed is taken once, in each sender's order, or refused. (unit base: "Inbox";
///     unit process: "Messages of one sender stay in order")
///  2. Exactly the push that ends a wait makes the process runnable. (unit process: "A parked
///     mailbox asks for one wake, a closed one refuses", "Many producers against one consumer")
///  3. message-queued fires before the receiver can see the message, with the length that the queue
///     has then. (live: event probes)
///  4. A signal that finds its receiver dead is answered as a dead process answers. (golden
///     signals: every_receiver; unit process: "Questions to other processes are answered")
///  5. A sender that finds neither a signal in the mailbox nor one under way knows that all its
///     signals have had their effect. (unit base: "UnderWay"; golden signals: alive_after_exit,
///     info_of_running)
namespace vmrun {

inline Fragment* new_signal(SignalKind kind, Word words) {
  Fragment* f = new_fragment(words);
  f->kind = static_cast<std::uint32_t>(kind);
  return f;
}

/// Appends a message and wakes the receiver. Fires message-queued unless the receiver sent it to
/// itself. Returns false (the fragment is destroyed) when the receiver has exited.
bool push_message(Process& to, Fragment* f, bool to_self);

/// Wakes the receiver after a push if need be. Destroys a fragment that was refused, and returns
/// false then.
inline bool finish_push(Process& to, Fragment* f, PushResult result, void (*wake)(Process&) = make_runnable) {
  if (result == PushResult::kWakeOwner) {
    wake(to);
  } else if (result == PushResult::kClosed) [[unlikely]] {
    Fragment::destroy(f);
    return false;
  }
  return true;
}

/// The probes that a sender knows to be disabled, because it has tested Process::observed.
enum class Disabled : std::uint8_t { kMessageProbes, kMessageAndQueueProbes };
/// As above, but does not test these probes again.
inline bool push_message(Process& to, Fragment* f, Disabled disabled) {
  void (*wake)(Process&) = make_runnable;
  if (disabled == Disabled::kMessageAndQueueProbes) wake = make_runnable_unobserved;
  return finish_push(to, f, to.mailbox.push_message(f), wake);
}

/// Appends a signal and wakes the receiver. Returns false when the receiver has exited; then the
/// fragment still belongs to the caller.
[[nodiscard]] bool push_signal(Process& to, Fragment* f);
/// Makes a suspended process check again what it waits for.
void wake_up(Process& p);

/// Calls `insert`, which puts a message into the process's own inner queue; announces it as queued
/// if it is to be.
void insert_with_probe(Process& p, Fragment& f, bool announce, const std::function<void()>& insert);

/// Appends a message that is made in p's own thread (such as an exit turned into a message).
/// announce: fires message-queued (not for what p has sent to itself).
void append_own_message(Process& p, Fragment* f, bool announce = true);

}  // namespace vmrun

#pragma once

#include "vm/heap/fragment.hpp"
#include "vm/process/core.hpp"
#include "vm/process/process.hpp"

/// Delivery: puts messages and signals into the mailbox of a process of this node. receiver.hpp is
/// about receivers of any kind. Senders are schedulers (or hold an EpochGuard). Signals between two
/// processes arrive in the order of sending, messages included.
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
  return finish_push(to, f, to.mailbox.push_message(f),
                     disabled == Disabled::kMessageProbes ? make_runnable : make_runnable_unobserved);
}

/// Appends a signal and wakes the receiver. Returns false when the receiver has exited; then the
/// fragment still belongs to the caller.
[[nodiscard]] bool push_signal(Process& to, Fragment* f);
/// Makes a suspended process check again what it waits for.
void wake_up(Process& p);

/// Appends a message that is made in p's own thread (such as an exit turned into a message).
/// announce: fires message-queued (not for what p has sent to itself).
void append_own_message(Process& p, Fragment* f, bool announce = true);

}  // namespace vmrun

#pragma once

#include "vm/heap/fragment.hpp"
#include "vm/message/destination.hpp"
#include "vm/process/core.hpp"
#include "vm/process/process.hpp"
#include "vm/process/process_state.hpp"

/// Signals in the mailbox of a process: how they are delivered and handled. receiver.hpp is about
/// receivers of any kind. Senders are schedulers (or hold an EpochGuard). Signals are handled in
/// the receiver's own thread. Signals between two processes arrive in the order of sending,
/// messages included.
namespace vmrun {

inline Fragment* new_signal(SignalKind kind, Word words) {
  Fragment* f = new_fragment(words);
  f->kind = static_cast<std::uint32_t>(kind);
  return f;
}

/// Appends a message and wakes the receiver. Fires message-queued unless the receiver sent it to
/// itself. Returns false (the fragment is destroyed) when the receiver has exited.
bool push_message(Process& to, Fragment* f, bool to_self);
/// Wakes the receiver if need be. Destroys a fragment that it refused and returns false.
inline bool end_push(Process& to, Fragment* f, PushResult result, void (*wake)(Process&) = make_runnable) {
  if (result == PushResult::kWakeOwner) {
    wake(to);
  } else if (result == PushResult::kClosed) [[unlikely]] {
    Fragment::destroy(f);
    return false;
  }
  return true;
}
/// As push_message, but fires nothing: for callers that know that the probes of messages are not
/// enabled.
inline bool push_unannounced(Process& to, Fragment* f) { return end_push(to, f, to.mailbox.push_message(f)); }
/// As above, for callers that know that the probes of run queues are not enabled either.
inline bool push_unobserved(Process& to, Fragment* f) {
  return end_push(to, f, to.mailbox.push_message(f), make_runnable_unobserved);
}
/// Appends a signal and wakes the receiver. Returns false when the receiver has exited; then the
/// fragment still belongs to the caller.
[[nodiscard]] bool push_signal(Process& to, Fragment* f);
/// Takes what has arrived: links messages to the inner queue and handles signals. May set
/// p.exit_pending, p.deferred_requests, p.resume_requested.
void handle_arrivals(Process& p);
/// As above, for callers that know that the probes of messages are not enabled.
void handle_arrivals_unobserved(Process& p);
/// As above, for fragments that have been taken already, oldest first.
void handle_these(Process& p, Fragment* f);
/// Puts a message that was deferred (deferred_decoding.hpp) and is now decoded into the inner
/// queue, unless it is to an alias that has ended.
void handle_late_message(Process& p, Fragment* f);
/// Answers a signal for a process that has ended. Destroys the fragment.
void answer_dead(Term dead, Fragment* f);

/// Handle the answer of another node that was asked to spawn a process. The first one takes the
/// fragment over. The second one is for a process that has ended; the fragment stays the caller's.
void handle_spawn_answer(Process& p, Fragment* f);
void answer_spawn_answer_dead(Term asker, const Fragment& f);

/// Answers a link of `from` to `to`, which does not exist: an exit signal noproc.
void link_failed(Term from, Term to);
/// Makes a suspended process check again what it waits for.
void wake_up(Process& p);

/// Appends a message that is made in p's own thread (such as an exit turned into a message).
/// announce: fires message-queued (not for what p has sent to itself).
void append_own_message(Process& p, Fragment* f, bool announce = true);

void set_links(Process& a, Process& b);
bool is_linked(Process& p, Term other);
/// Traces that p links to another process that lives, and has the other traced too if p's flags say
/// so.
void trace_link(Process& p, Term other);
/// Traces that this process or another one has got or lost a name. event is register or unregister.
void trace_name(Process& p, Term who, Term event, Term name);

/// The result of starting a monitor. With kRefused there is no monitor, and no key.
struct StartedMonitor {
  Reached reached;
  RefKey key;
};
/// monitor(time_offset, clock_service).
RefKey watch_clock(Process& p, Term tag, AliasMode alias);
/// erlang:monitor of a port (is_port) or a process. The caller makes the reference.
StartedMonitor start_monitor(Process& p, const Destination& of, bool is_port, Term tag, AliasMode alias);
/// Returns whether there was such a monitor.
bool stop_monitor(Process& p, RefKey key);
/// Takes a {_, Ref, _, _, _} out of the mailbox. Returns false when there is none.
bool flush_down_message(Process& p, RefKey key);

}  // namespace vmrun

#pragma once

#include "vm/heap/fragment.hpp"
#include "vm/message/destination.hpp"
#include "vm/process/core.hpp"
#include "vm/process/process.hpp"
#include "vm/process/process_state.hpp"

/// Signals in the mailbox of a process: how they are delivered and handled. What is sent to
/// receivers of any kind: receiver.hpp. Senders are schedulers (or hold an EpochGuard); handling
/// happens in the receiver's own thread. Order of signals between two processes is the order of
/// sending, messages included.
namespace vmrun {

inline Fragment* new_signal(SignalKind kind, Word words) {
  Fragment* f = new_fragment(words);
  f->kind = static_cast<std::uint32_t>(kind);
  return f;
}

/// Appends a message and wakes the receiver; fires message-queued unless the receiver sent it to
/// itself. False (the fragment is gone) when the receiver has exited.
bool push_message(Process& to, Fragment* f, bool to_self);
/// Wakes the receiver, or destroys what it refused: then false.
inline bool end_push(Process& to, Fragment* f, PushResult result, void (*wake)(Process&) = make_runnable) {
  if (result == PushResult::kWakeOwner) {
    wake(to);
  } else if (result == PushResult::kClosed) [[unlikely]] {
    Fragment::destroy(f);
    return false;
  }
  return true;
}
/// As push_message, but fires nothing: for callers that have asked whether anyone looks at
/// messages.
inline bool push_unannounced(Process& to, Fragment* f) { return end_push(to, f, to.mailbox.push_message(f)); }
/// The same for callers that have asked about run queues too.
inline bool push_unobserved(Process& to, Fragment* f) {
  return end_push(to, f, to.mailbox.push_message(f), make_runnable_unobserved);
}
/// Appends a signal and wakes the receiver. False when it has exited: the fragment still belongs to
/// the caller.
[[nodiscard]] bool push_signal(Process& to, Fragment* f);
/// Takes what has arrived: messages to the inner queue, signals are handled. May set
/// p.exit_pending, p.deferred_requests, p.resume_requested.
void handle_arrivals(Process& p);
/// The same for who has asked whether anyone looks at messages.
void handle_arrivals_unobserved(Process& p);
/// The same for what has been taken already, oldest first.
void handle_these(Process& p, Fragment* f);
/// Puts a message that was deferred (deferred_decoding.hpp) and is now decoded into the inner
/// queue, unless it is to an alias that has ended.
void handle_late_message(Process& p, Fragment* f);
/// What a dead process answers to a signal. Destroys the fragment.
void answer_dead(Term dead, Fragment* f);

/// The answer of another node that was asked for a process. Takes the fragment over; the second:
/// the process has ended, the fragment stays the caller's.
void handle_spawn_answer(Process& p, Fragment* f);
void answer_spawn_answer_dead(Term asker, const Fragment& f);

/// The link that `from` has asked `to` for finds nobody: an exit signal noproc.
void link_failed(Term from, Term to);
/// Makes a suspended process look again at what it waits for.
void wake_up(Process& p);

/// A message for p made in p's own thread (an exit turned into a message, say). announce: fires
/// message-queued (not for what p has sent to itself).
void append_own_message(Process& p, Fragment* f, bool announce = true);

void set_links(Process& a, Process& b);
bool is_linked(Process& p, Term other);
/// p links to another that lives: tells p's tracer, and has the other traced too if p's
/// flags say so.
void trace_link(Process& p, Term other);
/// This process or another one has got a name or lost it; event: register or unregister.
void trace_name(Process& p, Term who, Term event, Term name);

/// What a process monitors; with kRefused there is no monitor, and no key.
struct StartedMonitor {
  Reached reached;
  RefKey key;
};
/// erlang:monitor; is_port: of a port, else of a process. The caller makes the reference.
/// monitor(time_offset, clock_service).
RefKey watch_clock(Process& p, Term tag, AliasMode alias);
StartedMonitor start_monitor(Process& p, const Destination& of, bool is_port, Term tag, AliasMode alias);
/// True when there was such a monitor.
bool stop_monitor(Process& p, RefKey key);
/// Takes a {_, Ref, _, _, _} out of the mailbox; false when there is none.
bool flush_down_message(Process& p, RefKey key);

}  // namespace vmrun

#pragma once

#include "vm/heap/fragment.hpp"
#include "vm/process/process.hpp"
#include "vm/process/process_state.hpp"

/// Signals between processes: how they are made, delivered and handled. Senders are schedulers (or
/// hold an EpochGuard); handling happens in the receiver's own thread. Order of signals between two
/// processes is the order of sending, messages included.
namespace vmrun {

inline Fragment* new_signal(SignalKind kind, Word words) {
  Fragment* f = new_fragment(words);
  f->kind = static_cast<std::uint32_t>(kind);
  return f;
}

/// Appends a message and wakes the receiver; fires message-queued unless the receiver sent it to
/// itself. False (the fragment is gone) when the receiver has exited.
bool push_message(Process& to, Fragment* f, bool to_self);
/// Likewise, but fires nothing: for who has asked whether anyone looks.
bool push_unannounced(Process& to, Fragment* f);
/// Appends a signal and wakes the receiver. False when it has exited: the fragment still belongs to
/// the caller.
[[nodiscard]] bool push_signal(Process& to, Fragment* f);
/// A signal to a process that may be gone: then it is answered as a dead process answers.
void send_signal(Term to, Fragment* f);

/// Takes what has arrived: messages to the inner queue, signals are handled. May set
/// p.exit_pending, p.deferred_requests, p.resume_requested.
void handle_arrivals(Process& p);
/// What a dead process answers to a signal. Destroys the fragment.
void answer_dead(Term dead, Fragment* f);

/// exit/2 of one process to another (live or not).
void send_exit(Process& from, Term to, Term reason);
/// Tells `to`, linked to `from`, that that exits. announce: fires process-exit_signal (not for the
/// noproc of a link to what is dead). carrier: the exiting process, whose token and tag go along.
void send_link_exit(Term from, Term to, Term reason, SignalKind kind, bool announce = true,
                    Process* carrier = nullptr);
/// object: pid or port; watcher: likewise (a port's driver).
void send_down(Term watcher, RefKey key, Term object, Term name, Term reason);
/// The process or port forgets that it is monitored; nothing when it is gone, or when the target is
/// the name of nobody.
void send_demonitor(Term target, RefKey key);
/// Makes a suspended process look again at what it waits for.
void wake_up(Process& p);

/// A message for p made in p's own thread (an exit turned into a message, say). announce: fires
/// message-queued (not for what p has sent to itself).
void append_own_message(Process& p, Fragment* f, bool announce = true);

void set_links(Process& a, Process& b);
bool is_linked(Process& p, Term other);
/// p links to another process that lives: tells p's tracer, and has the other traced too if p's
/// flags say so.
void trace_link(Process& p, Term other);

/// monitor: target is a local pid or port, or an atom; is_port: what the atom should name. Returns
/// the reference's key; the caller makes the term.
RefKey start_monitor(Process& p, Term target, Term tag, AliasMode alias, bool is_port = false);
/// True when there was such a monitor.
bool stop_monitor(Process& p, RefKey key);
/// Takes a {_, Ref, _, _, _} out of the mailbox; false when there is none.
bool flush_down_message(Process& p, RefKey key);

}  // namespace vmrun

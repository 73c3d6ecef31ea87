// SPDX-License-Identifier: Apache-2.0
#include "vm/message/process_receiver.hpp"

#include <algorithm>

#include "vm/heap/copy.hpp"
#include "vm/message/deliver.hpp"
#include "vm/message/destination.hpp"
#include "vm/message/end_signals.hpp"
#include "vm/message/message_upcalls.hpp"
#include "vm/probes/fire.hpp"
#include "vm/process/priority_boost.hpp"
#include "vm/process/process_table.hpp"
#include "vm/term/node.hpp"
#include "vm/trace/seq_trace.hpp"

namespace vmrun {
namespace {

/// Returns the words that a copy of an identifier takes; 0 for one of this node.
Word words_of(Term identifier) { return identifier.is_immed() ? 0 : copy_size_words(identifier); }
Term copy_identifier_into(Fragment& f, Term identifier) {
  return identifier.is_immed() ? identifier : copy_into(f, identifier);
}

/// Makes a signal whose root is an identifier.
Fragment* identifier_signal(SignalKind kind, Term identifier) {
  Fragment* f = new_signal(kind, words_of(identifier));
  f->message = copy_identifier_into(*f, identifier);
  return f;
}

/// Makes a signal with the root [From, Own | Others].
Fragment* link_signal(SignalKind kind, Term from, LinkSettings settings) {
  Fragment* f = new_signal(kind, 4 + words_of(from));
  const Term identifier = copy_identifier_into(*f, from);
  Term* hp = fragment_alloc(*f, 4);
  const Term numbers = make_cons(hp, Term::small(settings.own), Term::small(settings.others));
  f->message = make_cons(hp, identifier, numbers);
  return f;
}

Reached push(Term to, Fragment* f) {
  Process* q = process_table.find(to);
  if (q && push_signal(*q, f)) return Reached::kYes;
  Fragment::destroy(f);
  return Reached::kNobody;
}

[[gnu::cold, gnu::noinline]] void fire_exit_signal(Term to, const ExitSignal& signal) {
  // exit/2 with kill is reported with its effect, `killed`.
  const bool kills = !signal.by_link && signal.reason == atoms::kill;
  probe::fire_process_exit_signal(signal.from, to, kills ? atoms::killed : signal.reason);
}

}  // namespace

Reached ProcessReceiver::link(Term to, Term from, std::uint32_t setting) {
  const Reached reached = push(to, link_signal(SignalKind::kLink, from, {.own = setting}));
  if (reached == Reached::kNobody && !from.is_immed())
    message_upcalls.link_signal_arrives(to, from, true, setting);
  return reached;
}
void ProcessReceiver::unlink(Term to, Term from, LinkSettings known) {
  const Reached reached = push(to, link_signal(SignalKind::kUnlink, from, known));
  if (reached == Reached::kNobody && !from.is_immed())
    message_upcalls.link_signal_arrives(to, from, false, known.own);
}

bool ProcessReceiver::exit(Term to, const ExitSignal& signal) {
  Process* q = process_table.find(to);
  if (!q) return true;
  const bool carries = signal.carrier && sends_token(*signal.carrier);
  Fragment* f =
      new_signal(signal.by_link ? SignalKind::kLinkExit : SignalKind::kExit,
                 kExitSignalWords + words_of(signal.from) + copy_size_words(signal.reason) +
                     (carries ? token_room_words(*signal.carrier) : token_copy_words(signal.token)));
  const Term reason = copy_into(*f, signal.reason), from = copy_identifier_into(*f, signal.from);
  finish_exit_signal(*f, from, reason);
  if (carries) [[unlikely]] {
    // The receiver's sensitivity decides about this event, as in OTP.
    if (is_sensitive(*q)) advance_seq_token(*signal.carrier);
    else seq_trace_send(*signal.carrier, to, f->message);
    attach_token(*signal.carrier, *f);
  } else if (!signal.token.is_nil()) [[unlikely]] {
    attach_token(signal.token, *f);
  }
  // Fires before the receiver can see the signal (PROBES A10).
  if (probe::process_exit_signal_enabled() && signal.fires_probe) [[unlikely]]
    fire_exit_signal(to, signal);
  if (!push_signal(*q, f)) Fragment::destroy(f);
  return true;
}

Reached ProcessReceiver::monitor(Term to, Term watcher, RefKey key, Term name) {
  Fragment* f = new_signal(SignalKind::kMonitor, 4 + kRefWords + words_of(watcher));
  const Term from = copy_identifier_into(*f, watcher);
  Term* hp = fragment_alloc(*f, kRefWords);
  const Term ref = make_ref(hp, key);
  hp = fragment_alloc(*f, 4);
  f->message = make_tuple(hp, from, ref, name);
  return push(to, f);
}
void ProcessReceiver::demonitor(Term to, Term, RefKey key) {
  Fragment* f = new_signal(SignalKind::kDemonitor, kRefWords);
  Term* hp = fragment_alloc(*f, kRefWords);
  f->message = make_ref(hp, key);
  push(to, f);
}
void ProcessReceiver::down(Term to, const DownSignal& signal) {
  Fragment* f = new_signal(SignalKind::kDown, kDownSignalWords + (signal.name.is_nil() ? 0 : 3) +
                                                  (signal.object ? words_of(signal.object) : 0) +
                                                  copy_size_words(signal.reason));
  const Term reason = copy_into(*f, signal.reason);
  Term object = signal.object ? copy_identifier_into(*f, signal.object) : kNonValue;
  if (!signal.name.is_nil()) {
    Term* hp = fragment_alloc(*f, 3);
    object = make_tuple(hp, signal.name, local_node_name());
  }
  finish_down_signal(*f, signal.key, signal.of_port ? atoms::port : atoms::process, object, reason);
  push(to, f);
}

Reached ProcessReceiver::group_leader(Term to, Term leader) {
  return push(to, identifier_signal(SignalKind::kGroupLeader, leader));
}
Reached ProcessReceiver::ask(Term to, Fragment* question, std::uint8_t priority) {
  Process* q = process_table.find(to);
  if (!q) return Reached::kNobody;
  const bool lifts = priority > q->own_priority.load(std::memory_order_relaxed);
  switch (q->mailbox.push(question)) {
    case PushResult::kClosed: return Reached::kNobody;
    case PushResult::kQueued:
      if (lifts) request_boost(*q, priority);
      break;
    case PushResult::kWakeOwner:
      if (lifts) q->priority = std::max(q->priority, priority);
      make_runnable(*q);
  }
  return Reached::kYes;
}
bool ProcessReceiver::is_there(Term who) { return process_table.find(who) != nullptr; }

constinit ProcessReceiver process_receiver;
constinit AliasReceiver alias_receiver;

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#include "vm/message/handle.hpp"
#include "vm/message/deliver.hpp"
#include "vm/message/links.hpp"
#include "vm/message/message_upcalls.hpp"
#include "vm/message/spawn_answer.hpp"

#include <utility>

#include "probes/probes.hpp"
#include "vm/heap/copy.hpp"
#include "vm/message/abandoned_spawns.hpp"
#include "vm/message/deferred_decoding.hpp"
#include "vm/message/mailbox_probe.hpp"
#include "vm/message/priority.hpp"
#include "vm/message/request.hpp"
#include "vm/process/dirty_state.hpp"
#include "vm/process/priority_boost.hpp"
#include "vm/trace/message_pattern.hpp"
#include "vm/trace/trace.hpp"

/// What signals do to the process they reach, in its own thread, and the answers of a process that
/// has ended.
namespace vmrun {

namespace {

/// link_signal in process_receiver.cpp makes this term.
LinkSettings link_settings(const Fragment& f) {
  const Term numbers = f.message.tail();
  return {static_cast<std::uint32_t>(numbers.head().small_value()),
          static_cast<std::uint32_t>(numbers.tail().small_value())};
}

/// Reports that the process handles a link or an unlink, or will not any more. Returns false if it
/// must ignore it, because it has changed the link with a process of another node since.
bool link_signal_counts(Term p, const Fragment& f, bool is_link) {
  const Term other = f.message.head();
  return other.is_immed() || message_upcalls.link_signal_arrives(p, other, is_link, link_settings(f).own);
}

}  // namespace

void answer_dead(Term dead, Fragment* f) {
  switch (static_cast<SignalKind>(f->kind)) {
    case SignalKind::kLink:
      link_signal_counts(dead, *f, true);
      link_failed(f->message.head(), dead);
      break;
    case SignalKind::kUnlink: link_signal_counts(dead, *f, false); break;
    case SignalKind::kMonitor: {
      const Term* e = f->message.tuple_elements();
      receiver_of(e[0]).down(e[0],
                             {.key = ref_key(e[1]), .object = dead, .name = e[2], .reason = atoms::noproc});
      break;
    }
    case SignalKind::kRequest: answer_request_dead(f->message); break;
    case SignalKind::kSpawnAnswer: answer_spawn_answer_dead(dead, *f); break;
    default: break;
  }
  Fragment::destroy(f);
}

namespace {

/// Ends p because of an exit signal. Its fragment becomes part of p's heap.
void die_of(Process& p, Term reason, Fragment* f) {
  p.exit_pending = true;
  p.exit_reason = reason;
  take_over(p, f);
}

void handle_exit(Process& p, Fragment* f, bool by_link, bool priority = false) {
  const Term from = f->message.element(1), reason = f->message.element(2);
  if (by_link) {
    if (!p.extra || !p.extra->links.erase(from)) return Fragment::destroy(f);
    priority = unmark_priority_link(p, from);
    // A process that is about to end is not traced as having lost a link.
    if (p.trap_exit || reason == atoms::normal) trace_procs(p, atoms::getting_unlinked, from);
  } else if (reason == atoms::kill) {
    return die_of(p, atoms::killed, f);
  }
  if (p.trap_exit) return priority ? insert_own_message(p, f) : append_own_message(p, f);
  if (reason == atoms::normal) return Fragment::destroy(f);
  die_of(p, reason, f);
}

/// If the reference of a monitor is an alias too, it must also be an alias in the monitor's
/// message. Only the owner of the monitor knows that; so the sender has put the reference last, and
/// left room.
void make_alias_of_last(Fragment& down, RefKey key, Term owner) {
  fragment_alloc(down, kAliasRefWords - kRefWords);
  Term* hp = down.words + down.used_words - kAliasRefWords;
  down.message.tuple_elements()[1] = make_alias_ref(hp, key, owner);
}

/// Replaces 'DOWN' by the monitor's tag.
Fragment* retag(Fragment* down, Term tag) {
  Fragment* f = new_fragment(copy_size_words(tag) + copy_size_words(down->message));
  f->from_vm = 1;
  const Term copy = copy_into(*f, tag);
  Term* hp = f->words + f->used_words;
  f->message = copy_term(down->message, hp, f->off_heap);
  f->used_words = static_cast<std::uint32_t>(hp - f->words);
  f->message.tuple_elements()[0] = copy;
  Fragment::destroy(down);
  return f;
}

void handle_down(Process& p, Fragment* f) {
  const RefKey key = ref_key(f->message.element(1));
  decltype(p.extra->monitors)::Entry entry;
  if (!p.extra || !p.extra->monitors.take(key, &entry)) return Fragment::destroy(f);
  const MonitorOut& was = entry.value;
  if (was.alias == AliasMode::kDemonitor || was.alias == AliasMode::kReplyDemonitor)
    p.extra->aliases.erase(key);
  const bool priority = unmark_priority_monitor(p, key);
  if (was.alias != AliasMode::kNone) make_alias_of_last(*f, key, p.id);
  if (was.tag) f = retag(f, was.tag->message);
  was.release();
  priority ? insert_own_message(p, f) : append_own_message(p, f);
}

/// A message or an exit signal to an alias of p. Without the alias it is lost. Only a message is a
/// reply, which uses an alias up.
void handle_through_alias(Process& p, Fragment* f) {
  const RefKey key = ref_key(f->message.element(0));
  AliasMode* mode = p.extra ? p.extra->aliases.find(key) : nullptr;
  if (!mode) return Fragment::destroy(f);
  const SWord marks = f->message.tuple_arity() == 3 ? f->message.element(2).small_value() : 0;
  const bool priority = marks & kPriorityMessage && is_priority_alias(p, key);
  f->message = f->message.element(1);
  if (f->kind == static_cast<Word>(SignalKind::kAliasExit)) return handle_exit(p, f, false, priority);
  if (*mode == AliasMode::kReplyDemonitor) {
    stop_monitor(p, key);  // erases the alias too
  } else if (*mode == AliasMode::kReply) {
    p.extra->aliases.erase(key);
    unmark_priority_alias(p, key);
  }
  priority ? insert_own_message(p, f, !(marks & kOwnMessage))
           : append_own_message(p, f, !(marks & kOwnMessage));
}

/// Sets tracing as requested at once for a process that waits, so that signals behind the request
/// are traced accordingly. A process in the middle of a slice, which may have begun untraced, is
/// traced between two slices.
bool is_traced_at_once(Process& p, Term request) {
  if (request_kind(request) != RequestKind::kTrace) return false;
  // A link whose process hands its flags on follows that request, and is reported.
  const bool by_link = request_argument(request).element(0) == atoms::link;
  if ((p.wait_kind == WaitKind::kNone && !by_link) || is_with_dirty(p) || !extra_of(p).deferred.empty())
    return false;
  if (by_link) p.reductions = 0;  // its calls are traced from the next slice on
  answer_request(request, trace_as_asked(p, request_argument(request)) ? atoms::true_ : atoms::false_);
  return true;
}

void handle_signal(Process& p, Fragment* f) {
  switch (static_cast<SignalKind>(f->kind)) {
    case SignalKind::kExit: return handle_exit(p, f, false);
    case SignalKind::kLinkExit: return handle_exit(p, f, true);
    case SignalKind::kLink:
      if (!link_signal_counts(p.id, *f, true)) break;
      trace_procs(p, atoms::getting_linked, f->message.head());
      extra_of(p).links.set_by_other(f->message.head(), link_settings(*f).own);
      break;
    case SignalKind::kUnlink:
      if (!link_signal_counts(p.id, *f, false)) break;
      trace_procs(p, atoms::getting_unlinked, f->message.head());
      if (!p.extra) break;
      p.extra->links.given_up_by_other(f->message.head(), link_settings(*f));
      if (p.extra->priority && !p.extra->links.contains(f->message.head()))
        unmark_priority_link(p, f->message.head());
      break;
    case SignalKind::kMonitor: {
      const Term* e = f->message.tuple_elements();
      extra_of(p).monitored_by.insert(ref_key(e[1]), e[0], e[2]);
      break;
    }
    case SignalKind::kDemonitor:
      if (p.extra) p.extra->monitored_by.erase(ref_key(f->message));
      break;
    case SignalKind::kDown: return handle_down(p, f);
    case SignalKind::kAliasMessage:
    case SignalKind::kAliasExit: return handle_through_alias(p, f);
    case SignalKind::kGroupLeader:
      p.group_leader = f->message;
      if (!p.group_leader.is_immed()) return take_over(p, f);
      break;
    case SignalKind::kRequest:
      if (is_traced_at_once(p, f->message)) {
        p.deferred_requests |= is_boosted(p);  // the boost ends where requests are answered
        break;
      }
      extra_of(p).deferred.push_back(f);
      p.deferred_requests = true;
      p.reductions = 0;  // answered between two slices
      return;
    case SignalKind::kReply: return take_reply(p, f);
    case SignalKind::kSpawnAnswer: return handle_spawn_answer(p, f);
    case SignalKind::kConnectionDrained:
      if (std::exchange(extra_of(p).waits_for_connection, false)) --p.suspend_count;
      break;
    case SignalKind::kUndecoded: break;  // it is deferred
    case SignalKind::kUndecodable: return keep_undecodable(p, f);
    case SignalKind::kArguments: p.saved_regs[2] = f->message; return p.heap.adopt(f);
    case SignalKind::kWakeUp: p.resume_requested = true; break;
    case SignalKind::kMessage:
    case SignalKind::kPinnedMessage: break;
  }
  Fragment::destroy(f);
}

Fragment* take_traced(Process& p) {
  MailboxProbeLock lock(p.mailbox);
  return p.mailbox.take_arrivals(p.signals);
}

[[gnu::cold, gnu::noinline]] void handle_traced(Process& p) {
  if (!p.deferred_requests || !has_deferred_decoding(p)) handle_these(p, take_traced(p));
}

}  // namespace

void handle_late_message(Process& p, Fragment* f) {
  if (f->kind == static_cast<Word>(SignalKind::kMessage)) append_own_message(p, f);
  else handle_signal(p, f);
}

void handle_arrivals(Process& p) {
  if (probe::message_queued_enabled() && probe::message_queued_in_full()) [[unlikely]]
    return handle_traced(p);
  handle_arrivals_unobserved(p);
}

void handle_arrivals_unobserved(Process& p) {
  if (p.deferred_requests && has_deferred_decoding(p)) [[unlikely]]
    return;
  // Mostly there are only messages, and their arrival is not traced.
  if (!p.exit_pending && !is_traced(p, kTraceReceive) && p.mailbox.take_messages(p.signals)) [[likely]]
    return;
  handle_these(p, p.mailbox.take_arrivals(p.signals));
}

void handle_these(Process& p, Fragment* f) {
  bool traced = is_traced(p, kTraceReceive);
  while (f) {
    Fragment* next = f->next;
    if (p.exit_pending) [[unlikely]]
      return leave_to_end(p, f);
    if (f->kind == static_cast<Word>(SignalKind::kMessage)) {
      if (traced) [[unlikely]]
        tell_receive(p, *f);
      p.mailbox.link(f);
    } else if (f->kind == static_cast<Word>(SignalKind::kUndecoded)) {
      return hold_back(p, f);
    } else {
      handle_signal(p, f);
      traced = is_traced(p, kTraceReceive);
    }
    f = next;
  }
  // A signal that ends the process has had its effect when the process is in no table any more.
  if (p.signals.handling() && !p.exit_pending) p.signals.handled();
}

}  // namespace vmrun

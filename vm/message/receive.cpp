// SPDX-License-Identifier: Apache-2.0
#include "vm/message/receive.hpp"

#include "vm/base/clock.hpp"
#include "vm/heap/copy.hpp"
#include "vm/message/handle.hpp"
#include "vm/message/mailbox_probe.hpp"
#include "vm/message/priority.hpp"
#include "vm/probes/fire.hpp"
#include "vm/process/bif.hpp"
#include "vm/process/core.hpp"
#include "vm/process/paths_enabled.hpp"
#include "vm/process/process_state.hpp"
#include "vm/term/print.hpp"
#include "vm/trace/seq_trace.hpp"
#include "vm/trace/trace.hpp"

namespace vmrun {
namespace {

/// Whether links of the inner queue are remembered elsewhere than in the mailbox.
bool has_marks(const Process& p) { return p.extra && (p.extra->marker_count || p.extra->priority); }

/// Updates the markers, and what the reception of priority messages remembers.
[[gnu::cold, gnu::noinline]] void move_marks(Extra& extra, Fragment** from, Fragment** to) {
  for (ReceiveMarker& marker : extra.markers) {
    if (marker.link == from) marker.link = to;
    if (marker.since == from) marker.since = to;
  }
  if (!extra.priority) return;
  PriorityReception& reception = *extra.priority;
  if (reception.end == from) reception.end = to;
  if (reception.resume == from) reception.resume = to;
  if (reception.among == from) reception.among = to;
}

/// The link that was at `from` is at `to` now. Updates the tail, the save position and the marks.
void move_link(Process& p, Fragment** from, Fragment** to) {
  Mailbox& m = p.mailbox;
  if (m.last == from) m.last = to;
  if (m.save == from) m.save = to;
  if (has_marks(p)) [[unlikely]]
    move_marks(*p.extra, from, to);
}

void fire_receive(Process& p, Fragment& f) {
  if (!probe::message_receive_in_full()) return probe::count_message_receive();
  const auto [label, previous, current] = SeqArguments::of_process(p);
  probe::message_number = last_message_id(f);
  fired_message = f.message;
  probe::fire_message_receive(p.id, message_words(f), static_cast<std::uint32_t>(p.mailbox.length() - 1),
                              label, previous, current);
}

void drop_timer(Process& p) {
  if (!p.receive_timer) return;
  TimerWheel::cancel_receive(p.receive_timer);
  p.receive_timer = nullptr;
}

[[gnu::cold, gnu::noinline]] bool peek_where_it_goes_on(Process& p, Term* message) {
  return receive_goes_on(p) && receive_peek_quickly(p, message);
}

}  // namespace

Peek receive_peek(Process& p, Term* message) {
  if (receive_peek_quickly(p, message)) return Peek::kMessage;
  if (p.extra && p.extra->priority) [[unlikely]]
    if (peek_where_it_goes_on(p, message)) return Peek::kMessage;
  if (!p.mailbox.has_arrivals()) return Peek::kEmpty;
  handle_arrivals(p);
  if (p.exit_pending) [[unlikely]]
    return Peek::kExiting;
  return receive_peek_quickly(p, message) ? Peek::kMessage : Peek::kEmpty;
}

namespace {

/// Removes a message that carries a token or a tag, or that a probe reports, from the mailbox.
[[gnu::cold, gnu::noinline]] void count_down_observed(Process& p, Fragment& f) {
  if (!f.token.is_nil() || (p.observed & kHasTokenOrTag)) receive_token(p, f);
  MailboxProbeLock lock(p.mailbox);
  if (probe::message_receive_enabled()) fire_receive(p, f);
  p.mailbox.set_inner_count(p.mailbox.inner_count() - 1);
}

}  // namespace

void receive_remove(Process& p) {
  Mailbox& m = p.mailbox;
  p.peeked = 0;
  Fragment* f = *m.save;
  if (!f->token.is_nil() || (p.observed & (kHasTokenOrTag | kPathsEnabled))) [[unlikely]]
    count_down_observed(p, *f);
  else m.set_inner_count(m.inner_count() - 1);
  Fragment** link = m.save;
  *link = f->next;
  if (m.last == &f->next) m.last = link;
  if (has_marks(p)) [[unlikely]] {
    move_marks(*p.extra, &f->next, link);
    receive_ends(p);
  }
  m.save = &m.first;
  if (p.receive_timer) drop_timer(p);
  if (f->used_words) {
    bump_reductions(p, f->used_words >> 5);
    p.heap.adopt(f);
  } else {
    if (f->kind == static_cast<std::uint32_t>(SignalKind::kPinnedMessage)) --p.extra->pinned_messages;
    Fragment::destroy(f);
  }
}

void receive_timeout(Process& p) {
  trace_timeout(p);
  drop_timer(p);
  receive_ends(p);
  p.mailbox.save = &p.mailbox.first;
  p.peeked = 0;
}

TimeoutState receive_start_timer(Process& p, Term timeout) {
  receive_look_at_nothing(p);  // there may be no clauses
  if (p.receive_timer)
    return p.receive_timer->fired.load(std::memory_order_acquire) ? TimeoutState::kExpired
                                                                  : TimeoutState::kWait;
  if (timeout == atoms::infinity) return TimeoutState::kWait;
  if (!timeout.is_small() || timeout.small_value() < 0 || timeout.small_value() > 0xFFFFFFFF) {
    receive_ends(p);
    p.mailbox.save = &p.mailbox.first;
    return TimeoutState::kBad;
  }
  if (timeout.small_value() == 0) return TimeoutState::kExpired;
  const Word now_ns = monotonic_ns();
  const Word tick = (now_ns + 999'999) / 1'000'000 + static_cast<Word>(timeout.small_value());
  p.receive_timer = this_core()->timers.start_receive(p.id, now_ns / 1'000'000, tick);
  return TimeoutState::kWait;
}

bool flush_down_message(Process& p, RefKey key) {
  if (p.mailbox.has_arrivals()) handle_arrivals(p);
  for (Fragment** link = &inner_queue(p); *link; link = &(*link)->next) {
    Fragment* f = *link;
    const Term m = f->message;
    if (!m.is_tuple() || m.tuple_arity() != 5 || !m.element(1).is_local_ref() ||
        !(ref_key(m.element(1)) == key))
      continue;
    *link = f->next;
    move_link(p, &f->next, link);
    MailboxProbeLock lock(p.mailbox);
    p.mailbox.set_inner_count(p.mailbox.inner_count() - 1);
    if (f->kind == static_cast<std::uint32_t>(SignalKind::kPinnedMessage)) --p.extra->pinned_messages;
    Fragment::destroy(f);
    return true;
  }
  return false;
}

void pin_message(Process& p, Fragment** link) {
  Fragment* f = *link;
  if (f->used_words == 0) {
    if (f->kind == static_cast<std::uint32_t>(SignalKind::kPinnedMessage)) return;
    f->kind = static_cast<std::uint32_t>(SignalKind::kPinnedMessage);
    ++extra_of(p).pinned_messages;
    return;
  }
  Fragment* node = new_fragment(0);
  node->message = f->message;
  node->token = f->token;
  node->from_vm = f->from_vm;
  node->token_generation = f->token_generation;
  node->kind = static_cast<std::uint32_t>(SignalKind::kPinnedMessage);
  node->next = f->next;
  *link = node;
  move_link(p, &f->next, &node->next);
  p.heap.adopt(f);
  ++extra_of(p).pinned_messages;
}

void receive_pin_peeked(Process& p) {
  pin_message(p, p.mailbox.save);
  p.peeked = 1;  // it is still being tested
}

// ---- Markers ------------------------------------------------------------------------------------

namespace {

void free_marker(Extra& extra, ReceiveMarker& marker) {
  marker = {};
  --extra.marker_count;
}

ReceiveMarker* find_marker(Process& p, Term id_or_ref) {
  if (!p.extra || !p.extra->marker_count) return nullptr;
  const RefKey key = id_or_ref.is_local_ref() ? ref_key(id_or_ref) : RefKey{};
  for (ReceiveMarker& marker : p.extra->markers) {
    if (!marker.link) continue;
    if (id_or_ref.is_small() ? marker.id == static_cast<std::uint32_t>(id_or_ref.small_value())
                             : marker.ref == key)
      return &marker;
  }
  return nullptr;
}

}  // namespace

Term receive_marker_reserve(Process& p) {
  // What is in either queue now came before the reference that will be made.
  if (p.mailbox.has_arrivals()) handle_arrivals(p);
  Extra& extra = extra_of(p);
  // The oldest marker, unless one is free.
  ReceiveMarker* chosen = &extra.markers[extra.next_marker % Extra::kMarkers];
  for (ReceiveMarker& marker : extra.markers)
    if (!marker.link) chosen = &marker;
  if (chosen->link) free_marker(extra, *chosen);
  chosen->link = p.mailbox.last;
  chosen->id = ++extra.next_marker;
  ++extra.marker_count;
  return Term::small(chosen->id);
}

void receive_marker_bind(Process& p, Term marker, Term ref) {
  ReceiveMarker* found = marker.is_small() ? find_marker(p, marker) : nullptr;
  if (found && ref.is_local_ref()) found->ref = ref_key(ref);
}

void receive_marker_clear(Process& p, Term ref) {
  if (ReceiveMarker* marker = find_marker(p, ref)) free_marker(*p.extra, *marker);
}

void receive_marker_use(Process& p, Term ref) {
  ReceiveMarker* marker = ref.is_local_ref() ? find_marker(p, ref) : nullptr;
  if (!marker) return;
  p.mailbox.save = marker->link;
  if (marker->since) [[unlikely]]
    receive_priority_first(p, marker->since);
}

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#include "vm/message/priority.hpp"

#include <utility>

#include "vm/message/deliver.hpp"
#include "vm/message/mailbox_probe.hpp"
#include "vm/probes/fire.hpp"
#include "vm/term/print.hpp"
#include "vm/trace/seq_trace.hpp"
#include "vm/trace/trace.hpp"

namespace vmrun {
namespace {

PriorityReception& reception_of(Process& p) {
  Extra& extra = extra_of(p);
  if (!extra.priority) extra.priority = std::make_unique<PriorityReception>();
  return *extra.priority;
}

template <class Key>
bool take_mark(Process& p, FlatTable<Key, NoValue> PriorityReception::*table, const Key& key) {
  return p.extra && p.extra->priority && (p.extra->priority.get()->*table).erase(key);
}

[[gnu::cold, gnu::noinline]] void fire_priority(const Process& p, Fragment& f) {
  std::uint32_t ahead = 0;
  for (Fragment* const* at = &p.mailbox.first; at != p.extra->priority->end; at = &(*at)->next) ++ahead;
  probe::fire_message_priority(p.id, message_words(f), ahead,
                               static_cast<std::uint32_t>(p.mailbox.inner_count()) - ahead);
}

/// Whether the save position is behind all priority messages.
bool has_passed_priority(const Process& p) {
  PriorityReception& reception = *p.extra->priority;
  if (p.mailbox.save == reception.among) return false;
  for (Fragment* const* at = &p.mailbox.first; at != reception.end; at = &(*at)->next)
    if (at == p.mailbox.save) {
      reception.among = p.mailbox.save;
      return false;
    }
  return true;
}

/// Links the message in, and lets the receive that is under way, and those that would begin at a
/// marker, find it.
void insert(Process& p, Fragment* f) {
  PriorityReception& reception = *p.extra->priority;
  Mailbox& m = p.mailbox;
  Fragment** const at = reception.end;
  f->next = *at;
  *at = f;
  reception.end = &f->next;
  if (m.last == at) m.last = &f->next;
  m.set_inner_count(m.inner_count() + 1);
  if (p.extra->marker_count)
    for (ReceiveMarker& marker : p.extra->markers) {
      if (!marker.link) continue;
      if (!marker.since) marker.since = at;
      if (marker.link == at) marker.link = &f->next;
    }
  if (reception.rest) return;  // the receive comes upon it
  if (p.peeked) {
    if (m.save == at) m.save = &f->next;  // it still leads to the message that is being tested
    reception.begins_anew = true;
    return;
  }
  const bool all_tested = std::exchange(reception.all_tested, false);
  if (m.save != at && (all_tested || has_passed_priority(p))) receive_priority_first(p, at);
}

}  // namespace

void mark_priority_alias(Process& p, RefKey key) { reception_of(p).aliases.insert(key, {}); }
void mark_priority_monitor(Process& p, RefKey key) { reception_of(p).monitors.insert(key, {}); }
void mark_priority_link(Process& p, Term other, bool wanted) {
  if (!wanted) return void(unmark_priority_link(p, other));
  auto& links = reception_of(p).links;
  if (!links.find({other})) links.insert({keep_identifier(other)}, {});
}

bool unmark_priority_alias(Process& p, RefKey key) { return take_mark(p, &PriorityReception::aliases, key); }
bool unmark_priority_monitor(Process& p, RefKey key) {
  return take_mark(p, &PriorityReception::monitors, key);
}
bool unmark_priority_link(Process& p, Term other) {
  FlatTable<KeptIdentifier, NoValue>::Entry entry;
  if (!p.extra || !p.extra->priority || !p.extra->priority->links.take({other}, &entry)) return false;
  drop_identifier(entry.key.term);
  return true;
}

void insert_own_message(Process& p, Fragment* f, bool announce) {
  f->kind = static_cast<std::uint32_t>(SignalKind::kMessage);
  trace_receive(p, *f);
  PriorityReception& reception = reception_of(p);
  if (!reception.end) reception.end = &p.mailbox.first;
  if (probe::message_priority_enabled()) [[unlikely]]
    fire_priority(p, *f);
  insert_with_probe(p, *f, announce, [&] { insert(p, f); });
}

void receive_priority_first(Process& p, Fragment** since) {
  PriorityReception& reception = *p.extra->priority;
  Mailbox& m = p.mailbox;
  reception.join();
  reception.all_tested = false;
  if (m.save != reception.end) reception.cut(m.save);
  m.save = since;
}

bool receive_goes_on(Process& p) {
  PriorityReception& reception = *p.extra->priority;
  if (std::exchange(reception.begins_anew, false)) {
    receive_ends(p);
    p.mailbox.save = &p.mailbox.first;
    return true;
  }
  reception.all_tested = true;
  if (!reception.rest) return false;
  reception.join();
  p.mailbox.save = reception.resume;
  return true;
}

}  // namespace vmrun

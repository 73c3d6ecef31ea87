// SPDX-License-Identifier: Apache-2.0
#include "vm/message/deferred_decoding.hpp"

#include <utility>

#include "vm/base/epoch.hpp"
#include "vm/heap/literal.hpp"
#include "vm/message/handle.hpp"
#include "vm/message/message_upcalls.hpp"

namespace vmrun {

namespace {

/// Counts messages. Those that have been taken out of the outer queue count as being in the inner
/// one.
Word messages_in(const Fragment* f) {
  Word n = 0;
  for (; f; f = f->next) n += f->kind == static_cast<std::uint32_t>(SignalKind::kMessage);
  return n;
}

template <class Visit>
void take_undecodable(Process& p, Visit visit) {
  Fragment* f = std::exchange(p.extra->undecodable, nullptr);
  while (f) {
    Fragment* const next = f->next;
    visit(*f);
    Fragment::destroy(f);
    p.mailbox.set_inner_count(p.mailbox.inner_count() - 1);
    f = next;
  }
}

}  // namespace

void keep_undecodable(Process& p, Fragment* f) {
  f->next = std::exchange(extra_of(p).undecodable, f);
  p.mailbox.set_inner_count(p.mailbox.inner_count() + 1);
  p.deferred_requests = true;
  p.reductions = 0;
}

void look_at_undecodable(Process& p) {
  take_undecodable(p, [](const Fragment& f) { message_upcalls.refuse_undecodable(f); });
}

void drop_undecodable(Process& p) {
  if (p.extra) take_undecodable(p, [](const Fragment&) {});
}

void settle_undecodable(Process& p) {
  if (!p.extra->undecodable) return;
  if (p.suspend_count == 0 && p.wait_kind == WaitKind::kReceive) look_at_undecodable(p);
  else p.deferred_requests = true;
}

void hold_back(Process& p, Fragment* f) {
  p.mailbox.set_inner_count(p.mailbox.inner_count() - messages_in(f));
  extra_of(p).deferred_decoding = f;
  p.deferred_requests = true;
  p.reductions = 0;
}

Fragment* take_deferred_decoding(Process& p) {
  Fragment* first = p.extra ? std::exchange(p.extra->deferred_decoding, nullptr) : nullptr;
  p.mailbox.set_inner_count(p.mailbox.inner_count() + messages_in(first));
  return first;
}

void leave_to_end(Process& p, Fragment* f) {
  p.mailbox.set_inner_count(p.mailbox.inner_count() - messages_in(f));
  Fragment** last = &extra_of(p).behind_end;
  while (*last) last = &(*last)->next;
  *last = f;
}

Fragment* take_left_to_end(Process& p) {
  return p.extra ? std::exchange(p.extra->behind_end, nullptr) : nullptr;
}

void decode_first_deferred(Process& p) {
  const EpochGuard guard;
  look_at_leaving_literals();
  Fragment* message = message_upcalls.decode_payload_of(*p.extra->deferred_decoding);
  Fragment* undecoded = take_deferred_decoding(p);
  Fragment* rest = undecoded->next;
  Fragment::destroy(undecoded);
  if (message) handle_late_message(p, message);
  handle_these(p, rest);
}

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#include "vm/message/deliver.hpp"

#include "vm/base/allocate.hpp"
#include "vm/heap/copy.hpp"
#include "vm/message/mailbox_probe.hpp"
#include "vm/probes/fire.hpp"
#include "vm/process/core.hpp"
#include "vm/term/print.hpp"
#include "vm/trace/seq_trace.hpp"
#include "vm/trace/trace.hpp"

/// The path of messages and signals into a mailbox.
namespace vmrun {

namespace {

// The work for enabled probes is in functions of its own. Otherwise its buffers for texts and its
// unwinding would slow down the common path.

void fire_queued(Process& to, Fragment& f, Word length) {
  const auto [label, previous, current] = SeqArguments::of_message(f);
  probe::message_number = message_id(f);
  fired_message = f.message;
  probe::fire_message_queued(to.id, message_words(f), static_cast<std::uint32_t>(length), label, previous,
                             current);
}

[[gnu::cold, gnu::noinline]] bool push_probed(Process& to, Fragment* f, bool to_self) {
  PushResult result;
  {
    MailboxProbeLock lock(to.mailbox);
    if (lock.held() && !to_self && !to.mailbox.is_closed()) fire_queued(to, *f, to.mailbox.length() + 1);
    result = to.mailbox.push_message(f);
    // Without the lock the consumers only count. They see the event after the push and do not need
    // the queue's length, so it is not computed.
    if (!lock.held() && !to_self && result != PushResult::kClosed) probe::count_message_queued();
  }
  return finish_push(to, f, result);
}

[[gnu::cold, gnu::noinline]] void append_probed(Process& p, Fragment* f, bool announce) {
  insert_with_probe(p, *f, announce, [&] { p.mailbox.append(f); });
}

}  // namespace

void insert_with_probe(Process& p, Fragment& f, bool announce, const std::function<void()>& insert) {
  if (!probe::message_queued_enabled()) return insert();
  MailboxProbeLock lock(p.mailbox);
  if (lock.held() && announce) fire_queued(p, f, p.mailbox.length() + 1);
  else if (announce) probe::count_message_queued();
  insert();
}

bool push_message(Process& to, Fragment* f, bool to_self) {
  if (probe::message_queued_enabled()) [[unlikely]]
    return push_probed(to, f, to_self);
  return push_message(to, f, Disabled::kMessageProbes);
}

bool push_signal(Process& to, Fragment* f) {
  const PushResult result = to.mailbox.push(f);
  if (result == PushResult::kWakeOwner) make_runnable(to);
  return result != PushResult::kClosed;
}

void wake_up(Process& p) {
  Fragment* f = new_signal(SignalKind::kWakeUp, 0);
  if (!push_signal(p, f)) Fragment::destroy(f);
}

void append_own_message(Process& p, Fragment* f, bool announce) {
  f->kind = static_cast<std::uint32_t>(SignalKind::kMessage);
  trace_receive(p, *f);
  if (probe::message_queued_enabled()) [[unlikely]]
    return append_probed(p, f, announce);
  p.mailbox.append(f);
}

}  // namespace vmrun

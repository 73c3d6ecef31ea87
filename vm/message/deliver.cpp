#include "vm/message/signal.hpp"

#include "vm/base/allocate.hpp"
#include "vm/heap/copy.hpp"
#include "vm/message/mailbox_probe.hpp"
#include "vm/probes/fire.hpp"
#include "vm/process/table.hpp"
#include "vm/sched/scheduler.hpp"
#include "vm/term/print.hpp"
#include "vm/trace/seq_trace.hpp"
#include "vm/trace/trace.hpp"

/// Fragments, and their way into a mailbox.
namespace vmrun {

Fragment* new_fragment(Word words) {
  Fragment* f = Fragment::create(words);
  if (!f) [[unlikely]]
    out_of_memory("a message", words * sizeof(Term));
  return f;
}

namespace {

[[gnu::always_inline]] inline Term copy_unannounced(Fragment& f, Term t, Literals literals) {
  Term* hp = f.words + f.used_words;
  const Term copy = copy_term(t, hp, f.off_heap, literals);
  f.used_words = static_cast<std::uint32_t>(hp - f.words);
  assert(f.used_words <= f.capacity_words);
  return copy;
}

// What is done when someone looks stands in functions of their own: their room for texts and their
// unwinding would cost the others.

[[gnu::cold, gnu::noinline]] Term copy_watched(Fragment& f, Term t, Literals literals) {
  probe::fire_copy_struct(size_words(t));
  return copy_unannounced(f, t, literals);
}

void fire_queued(Process& to, const Fragment& f, Word length) {
  const auto [label, previous, current] = SeqArguments::of_message(f);
  probe::fire_message_queued(to.id, size_words(f.message), static_cast<std::uint32_t>(length), label,
                             previous, current);
}

[[gnu::always_inline]] inline bool pushed(Process& to, Fragment* f, PushResult result) {
  if (result == PushResult::kWakeOwner) {
    make_runnable(to);
  } else if (result == PushResult::kClosed) [[unlikely]] {
    Fragment::destroy(f);
    return false;
  }
  return true;
}

[[gnu::cold, gnu::noinline]] bool push_watched(Process& to, Fragment* f, bool to_self) {
  PushResult result;
  {
    MailboxProbeLock lock(to.mailbox);
    if (lock.held() && !to_self && !to.mailbox.is_closed()) fire_queued(to, *f, to.mailbox.length() + 1);
    result = to.mailbox.push(f);
  }
  return pushed(to, f, result);
}

[[gnu::cold, gnu::noinline]] void append_watched(Process& p, Fragment* f, bool announce) {
  MailboxProbeLock lock(p.mailbox);
  if (lock.held() && announce) fire_queued(p, *f, p.mailbox.length() + 1);
  p.mailbox.append(f);
}

}  // namespace

Term copy_into(Fragment& f, Term t, Literals literals) {
  if (t.is_immed()) return t;
  if (probe::copy_struct_enabled()) [[unlikely]]
    return copy_watched(f, t, literals);
  return copy_unannounced(f, t, literals);
}

bool push_unannounced(Process& to, Fragment* f) { return pushed(to, f, to.mailbox.push(f)); }

bool push_message(Process& to, Fragment* f, bool to_self) {
  if (probe::message_queued_enabled()) [[unlikely]]
    return push_watched(to, f, to_self);
  return push_unannounced(to, f);
}

bool push_signal(Process& to, Fragment* f) {
  const PushResult result = to.mailbox.push(f);
  if (result == PushResult::kWakeOwner) make_runnable(to);
  return result != PushResult::kClosed;
}

void send_signal(Term to, Fragment* f) {
  Process* q = process_table.find(to);
  if (!q || !push_signal(*q, f)) answer_dead(to, f);
}

void wake_up(Process& p) {
  Fragment* f = new_signal(SignalKind::kWakeUp, 0);
  if (!push_signal(p, f)) Fragment::destroy(f);
}

void append_own_message(Process& p, Fragment* f, bool announce) {
  f->kind = static_cast<std::uint32_t>(SignalKind::kMessage);
  trace_receive(p, f->message);
  if (probe::message_queued_enabled()) [[unlikely]]
    return append_watched(p, f, announce);
  p.mailbox.append(f);
}

}  // namespace vmrun

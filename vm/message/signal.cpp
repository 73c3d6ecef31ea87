#include "vm/message/signal.hpp"

#include "probes/probes.hpp"
#include "vm/base/allocate.hpp"
#include "vm/heap/copy.hpp"
#include "vm/message/mailbox_probe.hpp"
#include "vm/message/request.hpp"
#include "vm/nif/resource_monitor.hpp"
#include "vm/port/signals.hpp"
#include "vm/process/registry.hpp"
#include "vm/process/table.hpp"
#include "vm/sched/scheduler.hpp"
#include "vm/term/print.hpp"
#include "vm/trace/seq_trace.hpp"
#include "vm/trace/trace.hpp"

namespace vmrun {

Fragment* new_fragment(Word words) {
  Fragment* f = Fragment::create(words);
  if (!f) [[unlikely]]
    out_of_memory("a message", words * sizeof(Term));
  return f;
}

namespace {

[[gnu::always_inline]] inline Term copy_unannounced(Fragment& f, Term t) {
  Term* hp = f.words + f.used_words;
  const Term copy = copy_term(t, hp, f.off_heap);
  f.used_words = static_cast<std::uint32_t>(hp - f.words);
  assert(f.used_words <= f.capacity_words);
  return copy;
}

// What is done when someone looks stands in functions of their own: their room for texts and their
// unwinding would cost the others.

[[gnu::cold, gnu::noinline]] Term copy_watched(Fragment& f, Term t) {
  probe::copy_struct(static_cast<std::uint32_t>(size_words(t)));
  return copy_unannounced(f, t);
}

void fire_queued(Process& to, const Fragment& f, Word length) {
  const auto [label, previous, current] = SeqArguments::of_message(f);
  probe::message_queued(PidText(to.id), static_cast<std::uint32_t>(size_words(f.message)),
                        static_cast<std::uint32_t>(length), label, previous, current);
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

[[gnu::cold, gnu::noinline]] void append_watched(Process& p, Fragment* f) {
  MailboxProbeLock lock(p.mailbox);
  if (lock.held()) fire_queued(p, *f, p.mailbox.length() + 1);
  p.mailbox.append(f);
}

[[gnu::cold, gnu::noinline]] Fragment* take_watched(Process& p) {
  MailboxProbeLock lock(p.mailbox);
  return p.mailbox.take_arrivals();
}

}  // namespace

Term copy_into(Fragment& f, Term t) {
  if (t.is_immed()) return t;
  if (probe::copy_struct_enabled()) [[unlikely]]
    return copy_watched(f, t);
  return copy_unannounced(f, t);
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

void append_own_message(Process& p, Fragment* f) {
  f->kind = static_cast<std::uint32_t>(SignalKind::kMessage);
  trace_receive(p, f->message);
  if (probe::message_queued_enabled()) [[unlikely]]
    return append_watched(p, f);
  p.mailbox.append(f);
}

namespace {

[[gnu::cold, gnu::noinline]] void fire_exit_signal(Term from, Term to, Term reason, SignalKind kind) {
  // exit/2 with kill is announced as what it does, `killed`.
  const Term shown = kind == SignalKind::kExit && reason == atoms::kill ? atoms::killed : reason;
  probe::process_exit_signal(PidText(from), PidText(to), TermText<255>(shown));
}

}  // namespace

void send_link_exit(Term from, Term to, Term reason, SignalKind kind, bool announce, Process* carrier) {
  if (to.is_local_port()) return send_exit_to_port(from, to, reason, kind == SignalKind::kLinkExit);
  Process* q = process_table.find(to);
  if (!q) return;
  const bool carries = carrier && sends_carried(*carrier);
  Fragment* f = new_signal(kind, 4 + copy_size_words(reason) + (carries ? carried_words(*carrier) : 0));
  const Term copy = copy_into(*f, reason);
  Term* hp = fragment_alloc(*f, 4);
  f->message = make_tuple(hp, atoms::exit_upper, from, copy);
  if (carries) [[unlikely]] {
    seq_trace_send(*carrier, to, f->message);
    attach_carried(*carrier, *f);
  }
  // Before the receiver can see it (PROBES A10).
  if (probe::process_exit_signal_enabled() && announce) [[unlikely]]
    fire_exit_signal(from, to, reason, kind);
  if (!push_signal(*q, f)) Fragment::destroy(f);
}

void send_exit(Process& from, Term to, Term reason) {
  send_link_exit(from.id, to, reason, SignalKind::kExit);
}

void wake_up(Process& p) {
  Fragment* f = new_signal(SignalKind::kWakeUp, 0);
  if (!push_signal(p, f)) Fragment::destroy(f);
}

void send_down(Term watcher, RefKey key, Term pid, Term name, Term reason) {
  if (watcher == kResourceWatcher) return resource_down(key, pid);
  if (watcher.is_local_port()) return send_down_to_port(watcher, key);
  Process* q = process_table.find(watcher);
  if (!q) return;
  Fragment* f =
      new_signal(SignalKind::kDown, 6 + kAliasRefWords + (name.is_atom() ? 3 : 0) + copy_size_words(reason));
  f->from_vm = 1;
  const Term copy = copy_into(*f, reason);
  Term object = pid;
  Term* hp = nullptr;
  if (name.is_atom()) {
    hp = fragment_alloc(*f, 3);
    object = make_tuple(hp, name, atoms::nonode_at_nohost);
  }
  Term* const tuple = fragment_alloc(*f, 6);
  hp = fragment_alloc(*f, kRefWords);  // last: see make_alias_of_last
  const Term ref = make_ref(hp, key);
  hp = tuple;
  f->message =
      make_tuple(hp, atoms::down, ref, pid.is_local_port() ? atoms::port : atoms::process, object, copy);
  if (!push_signal(*q, f)) Fragment::destroy(f);
}

void answer_dead(Term dead, Fragment* f) {
  switch (static_cast<SignalKind>(f->kind)) {
    case SignalKind::kLink:
      send_link_exit(dead, f->message, atoms::noproc, SignalKind::kLinkExit, false);
      break;
    case SignalKind::kMonitor: {
      const Term* e = f->message.tuple_elements();
      send_down(e[0], ref_key(e[1]), dead, f->message.tuple_arity() > 2 ? e[2] : Term::nil(), atoms::noproc);
      break;
    }
    case SignalKind::kRequest: answer_request_dead(f->message); break;
    default: break;
  }
  Fragment::destroy(f);
}

// ---- Handling, in the receiver's thread ---------------------------------------------------------

namespace {

/// An exit signal decides the end of p. Its fragment becomes part of p's heap.
void die_of(Process& p, Term reason, Fragment* f) {
  p.exit_pending = true;
  p.exit_reason = reason;
  p.heap.adopt(f);
}

void handle_exit(Process& p, Fragment* f, bool by_link) {
  const Term from = f->message.element(1), reason = f->message.element(2);
  if (by_link) {
    if (!p.extra || !p.extra->links.erase(from)) return Fragment::destroy(f);
    trace_procs(p, atoms::getting_unlinked, from);
  } else if (reason == atoms::kill) {
    return die_of(p, atoms::killed, f);
  }
  if (p.trap_exit) return append_own_message(p, f);
  if (reason == atoms::normal) return Fragment::destroy(f);
  die_of(p, reason, f);
}

/// The reference of a monitor that is an alias as well is an alias in its message too. Only the
/// owner of the monitor knows; the sender has put it last, with room.
void make_alias_of_last(Fragment& down, RefKey key, Term owner) {
  fragment_alloc(down, kAliasRefWords - kRefWords);
  Term* hp = down.words + down.used_words - kAliasRefWords;
  down.message.tuple_elements()[1] = make_alias_ref(hp, key, owner);
}

/// A monitor's tag takes the place of 'DOWN'.
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
  MonitorOut* monitor = p.extra ? p.extra->monitors.find(key) : nullptr;
  if (!monitor) return Fragment::destroy(f);
  const MonitorOut was = *monitor;
  p.extra->monitors.erase(key);
  if (was.alias == AliasMode::kDemonitor || was.alias == AliasMode::kReplyDemonitor)
    p.extra->aliases.erase(key);
  if (was.alias != AliasMode::kNone) make_alias_of_last(*f, key, p.id);
  if (was.tag) {
    f = retag(f, was.tag->message);
    Fragment::destroy(was.tag);
  }
  append_own_message(p, f);
}

void handle_alias_message(Process& p, Fragment* f) {
  const RefKey key = ref_key(f->message.element(0));
  AliasMode* mode = p.extra ? p.extra->aliases.find(key) : nullptr;
  if (!mode) return Fragment::destroy(f);
  if (*mode == AliasMode::kReplyDemonitor) stop_monitor(p, key);  // takes the alias along
  else if (*mode == AliasMode::kReply) p.extra->aliases.erase(key);
  f->message = f->message.element(1);
  append_own_message(p, f);
}

void handle_signal(Process& p, Fragment* f) {
  switch (static_cast<SignalKind>(f->kind)) {
    case SignalKind::kExit: return handle_exit(p, f, false);
    case SignalKind::kLinkExit: return handle_exit(p, f, true);
    case SignalKind::kLink:
      trace_procs(p, atoms::getting_linked, f->message);
      extra_of(p).links.insert(f->message, {});
      break;
    case SignalKind::kUnlink:
      trace_procs(p, atoms::getting_unlinked, f->message);
      if (p.extra) p.extra->links.erase(f->message);
      break;
    case SignalKind::kMonitor: {
      const Term* e = f->message.tuple_elements();
      extra_of(p).monitored_by.insert(ref_key(e[1]),
                                      {e[0], f->message.tuple_arity() > 2 ? e[2] : Term::nil()});
      break;
    }
    case SignalKind::kDemonitor:
      if (p.extra) p.extra->monitored_by.erase(ref_key(f->message));
      break;
    case SignalKind::kDown: return handle_down(p, f);
    case SignalKind::kAliasMessage: return handle_alias_message(p, f);
    case SignalKind::kGroupLeader: p.group_leader = f->message; break;
    case SignalKind::kRequest:
      extra_of(p).deferred.push_back(f);
      p.deferred_requests = true;
      p.reductions = 0;  // answered between two slices
      return;
    case SignalKind::kReply: return take_reply(p, f);
    case SignalKind::kWakeUp: p.resume_requested = true; break;
    case SignalKind::kMessage:
    case SignalKind::kPinnedMessage: break;
  }
  Fragment::destroy(f);
}

}  // namespace

void handle_arrivals(Process& p) {
  Fragment* f = probe::message_queued_enabled() ? take_watched(p) : p.mailbox.take_arrivals();
  const bool traced = is_traced(p, kTraceReceive);
  while (f) {
    Fragment* next = f->next;
    if (p.exit_pending) [[unlikely]] {
      // What comes after the deadly signal finds a dead process.
      if (f->kind == static_cast<Word>(SignalKind::kMessage))
        p.mailbox.set_inner_count(p.mailbox.inner_count() - 1);
      answer_dead(p.id, f);
    } else if (f->kind == static_cast<Word>(SignalKind::kMessage)) {
      if (traced) [[unlikely]]
        trace_receive(p, f->message);
      p.mailbox.link(f);
    } else {
      handle_signal(p, f);
    }
    f = next;
  }
}

namespace {

/// Stands for a port that does not exist where only its being one matters.
constexpr Term kNoPort = Term::port((Word{1} << 56) - 1);

}  // namespace

// ---- Links and monitors -------------------------------------------------------------------------

bool is_linked(Process& p, Term other) { return p.extra && p.extra->links.find(other); }

void set_links(Process& a, Process& b) {
  extra_of(a).links.insert(b.id, {});
  extra_of(b).links.insert(a.id, {});
}

RefKey start_monitor(Process& p, Term target, Term tag, AliasMode alias, bool is_port) {
  const RefKey key = next_ref_key();
  const Term name = target.is_atom() ? target : Term::nil();
  Term who = target.is_atom() ? whereis(target) : target;
  if (who && who.is_local_port() != is_port) who = kNonValue;  // the name is that of something else
  MonitorOut monitor{who ? who : target, name, nullptr, alias, is_port};
  if (tag) {
    monitor.tag = new_fragment(copy_size_words(tag));
    monitor.tag->message = copy_into(*monitor.tag, tag);
  }
  Extra& extra = extra_of(p);
  extra.monitors.insert(key, monitor);
  if (alias != AliasMode::kNone) extra.aliases.insert(key, alias);
  if (who == p.id) return key;  // nothing ever comes of monitoring oneself
  if (is_port) {
    if (who) monitor_port(who, p.id, key, name);
    else send_down(p.id, key, kNoPort, name, atoms::noproc);
    return key;
  }
  Fragment* f = new_signal(SignalKind::kMonitor, 4 + kRefWords);
  Term* hp = fragment_alloc(*f, kRefWords);
  const Term ref = make_ref(hp, key);
  if (name.is_nil()) {
    hp = fragment_alloc(*f, 3);
    f->message = make_tuple(hp, p.id, ref);
  } else {
    hp = fragment_alloc(*f, 4);
    f->message = make_tuple(hp, p.id, ref, name);
  }
  if (who) send_signal(who, f);
  else answer_dead(target, f);
  return key;
}

void send_demonitor(Term target, RefKey key) {
  if (target.is_local_port()) return demonitor_port(target, key);
  Process* q = target.is_local_pid() ? process_table.find(target) : nullptr;
  if (!q) return;
  Fragment* f = new_signal(SignalKind::kDemonitor, kRefWords);
  Term* hp = fragment_alloc(*f, kRefWords);
  f->message = make_ref(hp, key);
  if (!push_signal(*q, f)) Fragment::destroy(f);
}

bool stop_monitor(Process& p, RefKey key) {
  MonitorOut* monitor = p.extra ? p.extra->monitors.find(key) : nullptr;
  if (!monitor) return false;
  const MonitorOut was = *monitor;
  p.extra->monitors.erase(key);
  if (was.alias == AliasMode::kDemonitor || was.alias == AliasMode::kReplyDemonitor)
    p.extra->aliases.erase(key);
  if (was.tag) Fragment::destroy(was.tag);
  send_demonitor(was.target, key);
  return true;
}

}  // namespace vmrun

#include "vm/message/signal.hpp"

#include "vm/heap/copy.hpp"
#include "vm/message/other_receivers.hpp"
#include "vm/message/request.hpp"
#include "vm/probes/fire.hpp"
#include "vm/process/registry.hpp"
#include "vm/process/table.hpp"
#include "vm/term/print.hpp"
#include "vm/trace/seq_trace.hpp"
#include "vm/trace/trace.hpp"

/// Links and monitors: set, given up, and what the end of one side tells the other.
namespace vmrun {

constinit PortSignals port_signals;
constinit ResourceSignals resource_signals;

namespace {

[[gnu::cold, gnu::noinline]] void fire_exit_signal(Term from, Term to, Term reason, SignalKind kind) {
  // exit/2 with kill is announced as what it does, `killed`.
  const Term shown = kind == SignalKind::kExit && reason == atoms::kill ? atoms::killed : reason;
  probe::fire_process_exit_signal(from, to, shown);
}

}  // namespace

void send_link_exit(Term from, Term to, Term reason, SignalKind kind, bool announce, Process* carrier) {
  if (to.is_local_port()) return port_signals.exit(from, to, reason, kind == SignalKind::kLinkExit);
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

void send_down(Term watcher, RefKey key, Term pid, Term name, Term reason) {
  if (watcher == kResourceWatcher) return resource_signals.down(key, pid);
  if (watcher.is_local_port()) return port_signals.down(watcher, key);
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

namespace {

/// Stands for a port that does not exist where only its being one matters.
constexpr Term kNoPort = Term::port((Word{1} << 56) - 1);

}  // namespace

bool is_linked(Process& p, Term other) { return p.extra && p.extra->links.find(other); }

namespace {

/// The link signal is under way; this follows it.
[[gnu::cold]] void trace_along(Process& p, Term other) {
  if (is_traced(p, kTraceSetOnFirstLink)) p.observed &= ~(kTraceSetOnFirstLink | kTraceSetOnLink);
  Tracer* tracer = tracer_of(p);
  Arena arena;
  Term* hp = arena.alloc(5);
  const Term wish =
      make_tuple(hp, atoms::true_, Term::small(p.observed & kTraceAll), tracer->to, tracer->state);
  ask_async(p, other, RequestKind::kTrace, wish, Term::nil(), Term::nil(), atoms::false_);
}

}  // namespace

void trace_link(Process& p, Term other) {
  trace_procs(p, atoms::link, other);
  if (is_traced(p, kTraceSetOnLink | kTraceSetOnFirstLink) && tracer_of(p)) trace_along(p, other);
}

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
    monitor.tag = new_fragment(copy_size_words(tag, Literals::kCopied));
    monitor.tag->message = copy_into(*monitor.tag, tag, Literals::kCopied);
  }
  Extra& extra = extra_of(p);
  extra.monitors.insert(key, monitor);
  if (alias != AliasMode::kNone) extra.aliases.insert(key, alias);
  if (who == p.id) return key;  // nothing ever comes of monitoring oneself
  if (is_port) {
    if (who) port_signals.monitor(who, p.id, key, name);
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
  if (target.is_local_port()) return port_signals.demonitor(target, key);
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

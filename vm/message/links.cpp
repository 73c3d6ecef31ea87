// SPDX-License-Identifier: Apache-2.0
#include "vm/message/links.hpp"

#include "vm/heap/build.hpp"
#include "vm/heap/copy.hpp"
#include "vm/message/clock_service.hpp"
#include "vm/message/priority.hpp"
#include "vm/message/process_receiver.hpp"
#include "vm/message/request.hpp"
#include "vm/trace/trace.hpp"

/// Links and monitors: how they are set and removed, and what the end of one side sends to the
/// other.
namespace vmrun {

void link_failed(Term from, Term to) {
  receiver_of(from).exit(from, {.from = to, .reason = atoms::noproc, .by_link = true, .fires_probe = false});
}

bool is_linked(Process& p, Term other) { return p.extra && p.extra->links.contains(other); }

namespace {

constexpr std::uint32_t kOnLink = kTraceSetOnLink | kTraceSetOnFirstLink;

/// Sends the requests to trace `other`, one for each session that wants it.
[[gnu::cold]] void trace_along(Process& p, Term other) {
  tracings_of(p)->each(kOnLink, [&](const Tracing& t) {
    const SessionRef session = t.session;
    if (t.flags & kTraceSetOnFirstLink) set_trace_flag(p, session, false, kOnLink);
    const Tracing* still = tracing_of(p, session->number);
    if (!still) return;
    Arena arena;
    const Term wish = new_tuple(arena, atoms::link, Term::small(still->flags), still->tracer->to,
                                still->tracer->state, Term::small(static_cast<SWord>(session->number)));
    ask_async(p, other, RequestKind::kTrace, wish, Term::nil(), Term::nil(), atoms::false_);
  });
}

}  // namespace

void trace_as_linked(Process& p, Term other) {
  if (is_traced(p, kOnLink) && tracings_of(p) && other.is_local_pid()) trace_along(p, other);
}

void trace_name(Process& p, Term who, Term event, Term name) {
  if (who == p.id) return trace_procs(p, event, name);
  if (!lives_were_traced.load(std::memory_order_relaxed)) return;
  Arena arena;
  Term* hp = arena.alloc(3);
  ask_async(p, who, RequestKind::kTellName, make_tuple(hp, event, name), Term::nil(), Term::nil(),
            atoms::false_);
}

void set_links(Process& a, Process& b) {
  set_on_both_sides(extra_of(a).links, a.id, extra_of(b).links, b.id);
}

StartedMonitor start_monitor(Process& p, const Destination& of, bool is_port, const MonitorOptions& options) {
  const auto& [tag, alias, priority] = options;
  const bool by_name = of.given.is_atom() || of.given.is_tuple(), is_here = of.at != receivers.remote;
  const bool suits = of.at == (is_port ? receivers.port : is_here ? receivers.process : receivers.remote);
  const bool has_ended = is_port && of.at == receivers.nobody && of.given.is_port();
  if (!of.at || of.given.is_ref() || (!suits && !has_ended && !(by_name && is_here)))
    return {Reached::kRefused, {}};
  const RefKey key = next_ref_key();
  // A process that monitors itself never gets a message from that, so there is no monitor and no
  // alias.
  if (suits && of.who == p.id) return {Reached::kYes, key};
  const Term name = !by_name || !is_here ? Term::nil() : of.bare_name ? of.given : of.given.element(0);
  const Term who = suits || has_ended ? of.who : kNonValue;  // otherwise the name belongs to something else
  // An answer to this is handled after this function.
  const Reached reached = who ? of.at->monitor(who, p.id, key, name) : Reached::kNobody;
  if (reached == Reached::kRefused) return {reached, {}};
  MonitorOut monitor{who ? keep_identifier(who) : name, name, nullptr, alias, is_port};
  if (tag) {
    monitor.tag = new_fragment(copy_size_words(tag, Literals::kCopied));
    monitor.tag->message = copy_into(*monitor.tag, tag, Literals::kCopied);
  }
  Extra& extra = extra_of(p);
  extra.monitors.insert(key, monitor);
  if (alias != AliasMode::kNone) extra.aliases.insert(key, alias);
  if (priority) mark_priority_monitor(p, key);
  if (reached == Reached::kNobody)
    process_receiver.down(
        p.id, {.key = key, .object = who, .name = name, .reason = atoms::noproc, .of_port = is_port});
  return {reached, key};
}

RefKey watch_clock(Process& p, Term tag, AliasMode alias) {
  const RefKey key = next_ref_key();
  Extra& extra = extra_of(p);
  extra.monitors.insert(key, {atoms::clock_service, Term::nil(), nullptr, alias, false});
  if (alias != AliasMode::kNone) extra.aliases.insert(key, alias);
  clock_service.watch(p.id, key, tag, alias);
  return key;
}

bool stop_monitor(Process& p, RefKey key) {
  decltype(p.extra->monitors)::Entry entry;
  if (!p.extra || !p.extra->monitors.take(key, &entry)) return false;
  const MonitorOut& was = entry.value;
  if (was.alias == AliasMode::kDemonitor || was.alias == AliasMode::kReplyDemonitor)
    p.extra->aliases.erase(key);
  unmark_priority_monitor(p, key);
  receiver_of(was.target).demonitor(was.target, p.id, key);
  was.release();
  return true;
}

}  // namespace vmrun

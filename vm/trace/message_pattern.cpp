// SPDX-License-Identifier: Apache-2.0
#include "vm/trace/message_pattern.hpp"

#include <cassert>
#include <memory>
#include <mutex>
#include <utility>

#include "probes/inside.hpp"
#include "vm/heap/build.hpp"
#include "vm/heap/copy.hpp"
#include "vm/term/node.hpp"
#include "vm/trace/trace_upcalls.hpp"

namespace vmrun {

std::atomic<unsigned> sessions_that_want_senders{0};

/// A pattern, copied.
struct KeptMessagePattern {
  explicit KeptMessagePattern(const MessagePattern& p)
      : is_on(p.is_on), specification(copy_to(arena, p.specification)) {}
  const bool is_on;
  Arena arena;
  const Term specification;
};

namespace {

/// nullptr: all messages are reported.
using Kept = std::shared_ptr<const KeptMessagePattern>;

Kept keep(const MessagePattern& p) {
  return p.is_on && p.specification.is_nil() ? nullptr : std::make_shared<const KeptMessagePattern>(p);
}

Kept get(TraceSession& session, Kept TraceSession::*which) {
  const std::lock_guard guard(session.mutex);
  return session.*which;
}

Term pattern_term(const Kept& kept, Heap& out) {
  if (!kept) return atoms::true_;
  return kept->is_on ? copy_to(out, kept->specification) : atoms::false_;
}

/// Whether a message of p is reported to the session. *result: what is added to the event, the
/// non-value for nothing.
template <class Arguments>
bool is_wanted(Process& p, const SessionRef& session, Kept TraceSession::*which, Term* result,
               const Arguments& arguments) {
  const auto kept = get(*session, which);
  *result = kNonValue;
  if (!kept) return true;
  if (!kept->is_on) return false;
  Term message = atoms::true_;
  if (!trace_upcalls.match_message(p, session, kept->specification, arguments(), &message) ||
      message == atoms::false_)
    return false;
  if (message != atoms::true_) *result = message;
  const Tracing* t = tracing_of(p, session->number);
  return t && !(t->flags & kTraceSilent);
}

template <class... T>
Term list_of(Heap& heap, T... terms) {
  ListBuilder list(heap);
  (list.add(terms), ...);
  return list.finish();
}

/// Reports a message to the sessions that trace p for the flag and whose patterns it matches.
template <class Arguments>
void tell_message(Process& p, std::uint32_t flag, Kept TraceSession::*which, const Arguments& arguments,
                  Term event, Term message, Term extra) {
  Tracings* all = tracings_of(p);
  if (!all) return;
  all->each(flag, [&](const Tracing& t) {
    const SessionRef session = t.session;
    Term result;
    if (!is_wanted(p, session, which, &result, arguments)) return;
    if (const Tracing* still = tracing_of(p, session->number))
      trace_event_of(p, *still, event, message, extra, result);
  });
}

void tell_received(Process& p, Term node, Term sender, Term message) {
  tell_message(
      p, kTraceReceive, &TraceSession::receiving, [&] { return list_of(p.heap, node, sender, message); },
      atoms::receive, message, kNonValue);
}

/// Returns a pid or the name of a node; undefined if it is not known.
Term sender_of(const Fragment& f) { return f.has_sender ? f.words[f.capacity_words - 1] : atoms::undefined; }

}  // namespace

namespace {

/// Puts a pattern for receiving in the place of the former one.
void replace_receiving(TraceSession& session, Kept kept) {
  static std::mutex watch_mutex;
  const std::lock_guard guard(watch_mutex);
  const bool wanted = kept && kept->is_on;
  {
    const std::lock_guard of_session(session.mutex);
    std::swap(session.receiving, kept);
  }
  const bool before = kept && kept->is_on;
  if (wanted == before) return;
  const unsigned count = sessions_that_want_senders.load(std::memory_order_relaxed);
  if (wanted && count == 0) probe::raise_watch("sending");
  if (before && count == 1) probe::lower_watch("sending");
  sessions_that_want_senders.store(wanted ? count + 1 : count - 1, std::memory_order_release);
}

}  // namespace

void set_send_pattern(TraceSession& session, const MessagePattern& pattern) {
  auto kept = keep(pattern);
  const std::lock_guard guard(session.mutex);
  session.sending.swap(kept);
}

void set_receive_pattern(TraceSession& session, const MessagePattern& pattern) {
  replace_receiving(session, keep(pattern));
  if (!session.is_alive.load(std::memory_order_acquire)) forget_message_patterns(session);
}

void forget_message_patterns(TraceSession& session) { replace_receiving(session, nullptr); }

bool sends_are_off(TraceSession& session) {
  const auto kept = get(session, &TraceSession::sending);
  return kept && !kept->is_on;
}

Term send_pattern_term(TraceSession& session, Heap& out) {
  return pattern_term(get(session, &TraceSession::sending), out);
}
Term receive_pattern_term(TraceSession& session, Heap& out) {
  return pattern_term(get(session, &TraceSession::receiving), out);
}

void tell_send(Process& p, Term to, Term message, bool exists) {
  tell_message(
      p, kTraceSend, &TraceSession::sending, [&] { return list_of(p.heap, to, message); },
      exists ? atoms::send : atoms::send_to_non_existing_process, message, to);
}

void tell_receive(Process& p, const Fragment& f) {
  static const Term system = intern_atom("system");
  const Term sender = sender_of(f);
  if (f.from_vm) tell_received(p, system, atoms::undefined, f.message);
  else if (sender.is_atom()) tell_received(p, sender, atoms::undefined, f.message);
  else tell_received(p, local_node_name(), sender, f.message);
}

void tell_timeout(Process& p) {
  static const Term clock = intern_atom("clock_service");
  tell_received(p, clock, atoms::undefined, atoms::timeout);
}

void put_sender(Fragment& f, Term sender) {
  assert(f.used_words < f.capacity_words);
  f.words[f.capacity_words - 1] = sender;  // not in use, so it is not taken for a term of the heap
  f.has_sender = 1;
}

}  // namespace vmrun

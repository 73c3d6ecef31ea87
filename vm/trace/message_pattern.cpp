// SPDX-License-Identifier: Apache-2.0
#include "vm/trace/message_pattern.hpp"

#include <cassert>
#include <memory>
#include <mutex>

#include "probes/inside.hpp"
#include "vm/heap/build.hpp"
#include "vm/heap/copy.hpp"
#include "vm/term/node.hpp"
#include "vm/trace/trace_upcalls.hpp"

namespace vmrun {

std::atomic<bool> senders_wanted{false};

namespace {

struct Kept {
  explicit Kept(const MessagePattern& p) : is_on(p.is_on), specification(copy_to(arena, p.specification)) {}
  const bool is_on;
  Arena arena;
  const Term specification;
};

/// A pattern; nullptr: all messages are reported.
class KeptPattern {
 public:
  std::shared_ptr<const Kept> get() const {
    const std::lock_guard guard(mutex_);
    return kept_;
  }
  void set(const MessagePattern& p) {
    auto kept = p.is_on && p.specification.is_nil() ? nullptr : std::make_shared<const Kept>(p);
    const std::lock_guard guard(mutex_);
    kept_ = std::move(kept);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Kept> kept_;
};
KeptPattern sending, receiving;
std::mutex watch_mutex;

Term pattern_term(const KeptPattern& pattern, Heap& out) {
  const auto kept = pattern.get();
  if (!kept) return atoms::true_;
  return kept->is_on ? copy_to(out, kept->specification) : atoms::false_;
}

/// Whether the message is reported. *result: what is added to the event, the non-value for nothing.
template <class Arguments>
bool is_wanted(Process& p, const KeptPattern& pattern, Term* result, const Arguments& arguments) {
  const auto kept = pattern.get();
  *result = kNonValue;
  if (!kept) return true;
  if (!kept->is_on) return false;
  Term message = atoms::true_;
  if (!trace_upcalls.match_message(p, kept->specification, arguments(), &message) || message == atoms::false_)
    return false;
  if (message != atoms::true_) *result = message;
  return !is_traced(p, kTraceSilent);
}

template <class... T>
Term list_of(Heap& heap, T... terms) {
  ListBuilder list(heap);
  (list.add(terms), ...);
  return list.finish();
}

void tell_received(Process& p, Term node, Term sender, Term message) {
  Term result;
  if (is_wanted(p, receiving, &result, [&] { return list_of(p.heap, node, sender, message); }))
    trace_event(p, atoms::receive, message, kNonValue, result);
}

/// Returns a pid or the name of a node; undefined if it is not known.
Term sender_of(const Fragment& f) { return f.has_sender ? f.words[f.capacity_words - 1] : atoms::undefined; }

}  // namespace

void set_send_pattern(const MessagePattern& pattern) { sending.set(pattern); }

void set_receive_pattern(const MessagePattern& pattern) {
  const std::lock_guard guard(watch_mutex);
  const bool wanted = pattern.is_on && !pattern.specification.is_nil();
  if (wanted != senders_wanted.load(std::memory_order_relaxed)) {
    (wanted ? probe::raise_watch : probe::lower_watch)("sending");
    senders_wanted.store(wanted, std::memory_order_release);
  }
  receiving.set(pattern);
}

Term send_pattern_term(Heap& out) { return pattern_term(sending, out); }
Term receive_pattern_term(Heap& out) { return pattern_term(receiving, out); }

void tell_send(Process& p, Term to, Term message, bool exists) {
  Term result;
  if (is_wanted(p, sending, &result, [&] { return list_of(p.heap, to, message); }))
    trace_event(p, exists ? atoms::send : atoms::send_to_non_existing_process, message, to, result);
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

// SPDX-License-Identifier: Apache-2.0
#include "vm/trace/system_monitor.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_set>
#include <vector>

#include "probes/inside.hpp"
#include "vm/base/clock.hpp"
#include "vm/base/microstate.hpp"
#include "vm/heap/build.hpp"
#include "vm/process/process_table.hpp"
#include "vm/trace/tracer.hpp"

namespace vmrun {

std::atomic<bool> collections_monitored{false};
std::atomic<Word> monitored_collections_take_ms{0};

namespace {

struct Kept {
  SystemMonitor wanted;
  std::unordered_set<Word> long_queues;  // the processes, by pid, whose queues are reported as long
};
std::mutex monitor_mutex;
std::map<Word, Kept> monitors;  // by session; under the mutex

/// Their lowest limits. Every collection and slice reads them before it locks anything.
constexpr Word kNever = ~Word{0};
std::atomic<Word> slice_limit_ms{kNever}, gc_limit_ms{kNever}, heap_limit_words{kNever};
std::atomic<bool> any_queue_limit{false};

/// Called under the mutex. Returns the lowest of a limit that any monitor has; 0: none has one.
Word lowest(Word SystemMonitor::*limit) {
  Word least = 0;
  for (const auto& [session, kept] : monitors)
    if (const Word own = kept.wanted.*limit; own && (!least || own < least)) least = own;
  return least;
}
Word set_limit(std::atomic<Word>& limit, Word SystemMonitor::*of) {
  const Word wanted = lowest(of);
  limit.store(wanted ? wanted : kNever, std::memory_order_relaxed);
  return wanted;
}

constexpr Word kNsPerMs = 1'000'000;

// What the collecting thread did before.
constinit thread_local Microstate before_collection = Microstate::kOther;

/// Called under the mutex.
void note_collections() {
  collections_monitored =
      lowest(&SystemMonitor::long_gc_ms) || lowest(&SystemMonitor::large_heap_words) || microstates_measured;
}

/// Called under the mutex, after each change of the monitors.
void note_limits() {
  static bool watches = false;  // whether slices take the cold path for this
  const Word schedule = set_limit(slice_limit_ms, &SystemMonitor::long_schedule_ms);
  const Word queue = lowest(&SystemMonitor::long_queue);
  any_queue_limit.store(queue, std::memory_order_relaxed);
  const bool wanted = schedule || queue;
  if (wanted && !watches) probe::raise_watch("slice");
  if (!wanted && watches) probe::lower_watch("slice");
  watches = wanted;
  set_limit(gc_limit_ms, &SystemMonitor::long_gc_ms);
  set_limit(heap_limit_words, &SystemMonitor::large_heap_words);
  note_collections();
}

/// Called under the mutex. Drops monitors that are dead.
void forget_dead() {
  if (std::erase_if(monitors, [](const auto& m) { return !tracer_is_there(m.second.wanted.to); }))
    note_limits();
}

/// Returns all monitors but `who`.
std::vector<SystemMonitor> monitors_but(Term who) {
  std::vector<SystemMonitor> all;
  const std::lock_guard guard(monitor_mutex);
  forget_dead();
  for (const auto& [session, kept] : monitors)
    if (kept.wanted.to != who) all.push_back(kept.wanted);
  return all;
}

/// who: a process or port.
void tell(const SystemMonitor& wanted, Term who, Term event, Term info) {
  Arena arena;
  (void)deliver_trace_event(wanted.to, new_tuple(arena, atoms::monitor, who, event, info));
}

/// ms: how long a collection took, if that is reported.
void tell_heap(const SystemMonitor& wanted, const Process& p, Term event, const Word* ms) {
  const Heap& h = p.heap;
  Arena arena;
  ListBuilder items(arena);
  const auto add = [&](Term name, auto value) {
    items.add(new_tuple(arena, name, Term::small(static_cast<SWord>(value))));
  };
  if (ms) add(atoms::timeout, *ms);
  add(atoms::old_heap_block_size, h.old_end - h.old_start);
  add(atoms::heap_block_size, h.block_words());
  add(atoms::mbuf_size, h.fragment_words);
  add(atoms::stack_size, h.stack_words());
  add(atoms::old_heap_size, h.old_top - h.old_start);
  add(atoms::heap_size, h.used_words());
  tell(wanted, p.id, event, items.finish());
}

Term function_term(Heap& heap, const FunctionName& f) {
  return new_tuple(heap, f.module, f.function, Term::small(f.arity));
}

}  // namespace

SystemMonitor system_monitor(Word session) {
  const std::lock_guard guard(monitor_mutex);
  forget_dead();
  const auto it = monitors.find(session);
  return it == monitors.end() ? SystemMonitor{} : it->second.wanted;
}

SystemMonitor set_system_monitor(Word session, const SystemMonitor& wanted) {
  const std::lock_guard guard(monitor_mutex);
  forget_dead();
  Kept& kept = monitors[session];
  const SystemMonitor before = kept.wanted;
  kept.wanted = wanted;
  if (!wanted.long_queue) kept.long_queues.clear();
  if (!wanted.to) monitors.erase(session);
  note_limits();
  return before;
}

void note_measured_collections() {
  const std::lock_guard guard(monitor_mutex);
  note_collections();
}

Word begin_monitored_collection() {
  const Word now = monotonic_ns();
  before_collection = enter_microstate(Microstate::kGc);
  if (const Word ms = monitored_collections_take_ms.load(std::memory_order_relaxed)) [[unlikely]]
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
  return now;
}

void end_monitored_collection(Process& p, Word begun_ns, bool killed) {
  const Word ms = (monotonic_ns() - begun_ns) / kNsPerMs;
  enter_microstate(before_collection);
  if (killed) return;
  const Word words = p.heap.block_words() + static_cast<Word>(p.heap.old_end - p.heap.old_start);
  if (ms <= gc_limit_ms.load(std::memory_order_relaxed) &&
      words < heap_limit_words.load(std::memory_order_relaxed))
    return;
  for (const SystemMonitor& wanted : monitors_but(p.id)) {
    if (wanted.long_gc_ms && ms > wanted.long_gc_ms) tell_heap(wanted, p, atoms::long_gc, &ms);
    if (wanted.large_heap_words && words >= wanted.large_heap_words)
      tell_heap(wanted, p, atoms::large_heap, nullptr);
  }
}

void monitor_busy_port(Process& p, Term port) {
  for (const SystemMonitor& wanted : monitors_but(p.id))
    if (wanted.busy_port) tell(wanted, p.id, atoms::busy_port, port);
}

void monitor_busy_connection(Process& p, Term controller) {
  for (const SystemMonitor& wanted : monitors_but(p.id))
    if (wanted.busy_dist_port) tell(wanted, p.id, atoms::busy_dist_port, controller);
}

bool slices_monitored() { return slice_limit_ms.load(std::memory_order_relaxed) != kNever; }

namespace {

void tell_long_schedule(Term who, Word ms, Term info) {
  for (const SystemMonitor& wanted : monitors_but(who))
    if (wanted.long_schedule_ms && ms > wanted.long_schedule_ms)
      tell(wanted, who, atoms::long_schedule, info);
}

}  // namespace

void monitor_port_task(Term port, Term operation, Word begun_ns) {
  static const Term port_op = intern_atom("port_op");
  const Word ms = (monotonic_ns() - begun_ns) / kNsPerMs;
  if (ms <= slice_limit_ms.load(std::memory_order_relaxed)) return;
  Arena arena;
  ListBuilder items(arena);
  items.add(new_tuple(arena, atoms::timeout, Term::small(static_cast<SWord>(ms))));
  items.add(new_tuple(arena, port_op, operation));
  tell_long_schedule(port, ms, items.finish());
}

bool queues_monitored() { return any_queue_limit.load(std::memory_order_relaxed); }

namespace {

/// A process whose queue has become long, or is not long any more, for a monitor.
struct QueueChange {
  Term to;
  bool is_long;
};

/// Called under the mutex.
void note_queue(Kept& kept, Term pid, Word length, std::vector<QueueChange>& changes) {
  if (kept.wanted.long_queue && length >= kept.wanted.long_queue) {
    if (kept.wanted.to != pid && kept.long_queues.insert(pid.raw()).second)
      changes.push_back({kept.wanted.to, true});
  } else if (length <= kept.wanted.short_queue && kept.long_queues.erase(pid.raw())) {
    changes.push_back({kept.wanted.to, false});
  }
}

void forget_queue(Term pid) {
  const std::lock_guard guard(monitor_mutex);
  for (auto& [session, kept] : monitors) kept.long_queues.erase(pid.raw());
}

}  // namespace

void monitor_queue(Process& p) {
  static const Term long_message_queue = intern_atom("long_message_queue");
  const Word length = p.mailbox.length();
  std::vector<QueueChange> changes;
  {
    const std::lock_guard guard(monitor_mutex);
    for (auto& [session, kept] : monitors) note_queue(kept, p.id, length, changes);
  }
  for (const QueueChange& change : changes) {
    SystemMonitor wanted;
    wanted.to = change.to;
    tell(wanted, p.id, long_message_queue, change.is_long ? atoms::true_ : atoms::false_);
  }
}

SliceMonitor::SliceMonitor(const Process& p) {
  if (!slices_monitored()) return;
  begun_ns_ = monotonic_ns();
  in_ = resume_function(p);
}

void SliceMonitor::finish(Process& p, bool has_ended) const {
  if (queues_monitored()) has_ended ? forget_queue(p.id) : monitor_queue(p);
  if (!begun_ns_) return;
  const Word ms = (monotonic_ns() - begun_ns_) / kNsPerMs;
  if (ms <= slice_limit_ms.load(std::memory_order_relaxed)) return;
  Arena arena;
  ListBuilder items(arena);
  items.add(new_tuple(arena, atoms::timeout, Term::small(static_cast<SWord>(ms))));
  items.add(new_tuple(arena, atoms::in, function_term(arena, in_)));
  items.add(
      new_tuple(arena, atoms::out, has_ended ? atoms::undefined : function_term(arena, resume_function(p))));
  tell_long_schedule(p.id, ms, items.finish());
}

}  // namespace vmrun

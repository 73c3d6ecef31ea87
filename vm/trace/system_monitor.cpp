// SPDX-License-Identifier: Apache-2.0
#include "vm/trace/system_monitor.hpp"

#include <chrono>
#include <mutex>
#include <thread>

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

std::mutex monitor_mutex;
SystemMonitor wanted_now;

/// Its limits. Every collection and slice reads them before it locks anything.
constexpr Word kNever = ~Word{0};
std::atomic<Word> slice_limit_ms{kNever}, gc_limit_ms{kNever}, heap_limit_words{kNever};

void set_limit(std::atomic<Word>& limit, Word wanted) {
  limit.store(wanted ? wanted : kNever, std::memory_order_relaxed);
}

constexpr Word kNsPerMs = 1'000'000;

// What the collecting thread did before.
constinit thread_local Microstate before_collection = Microstate::kOther;

/// Called under the mutex.
void note_collections() {
  collections_monitored = wanted_now.long_gc_ms || wanted_now.large_heap_words || microstates_measured;
}

/// Called under the mutex.
void set_now(const SystemMonitor& wanted) {
  const bool slices = wanted.long_schedule_ms != 0, slices_before = wanted_now.long_schedule_ms != 0;
  if (slices && !slices_before) probe::raise_watch("slice");
  if (!slices && slices_before) probe::lower_watch("slice");
  set_limit(slice_limit_ms, wanted.long_schedule_ms);
  set_limit(gc_limit_ms, wanted.long_gc_ms);
  set_limit(heap_limit_words, wanted.large_heap_words);
  wanted_now = wanted;
  note_collections();
}

/// who: a process or port.
void tell(const SystemMonitor& wanted, Term who, Term event, Term info) {
  Arena arena;
  if (!deliver_trace_event(wanted.to, new_tuple(arena, atoms::monitor, who, event, info)))
    system_monitor();  // it has died
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

/// Called under the mutex.
SystemMonitor monitor_alive() {
  if (wanted_now.to && !process_table.find(wanted_now.to)) set_now({});
  return wanted_now;
}

}  // namespace

SystemMonitor system_monitor() {
  std::lock_guard guard(monitor_mutex);
  return monitor_alive();
}

SystemMonitor set_system_monitor(const SystemMonitor& wanted) {
  std::lock_guard guard(monitor_mutex);
  const SystemMonitor before = monitor_alive();
  set_now(wanted);
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
  const SystemMonitor wanted = system_monitor();
  if (!wanted.to || wanted.to == p.id) return;
  if (wanted.long_gc_ms && ms > wanted.long_gc_ms) tell_heap(wanted, p, atoms::long_gc, &ms);
  if (wanted.large_heap_words && words >= wanted.large_heap_words)
    tell_heap(wanted, p, atoms::large_heap, nullptr);
}

void monitor_busy_port(Process& p, Term port) {
  const SystemMonitor wanted = system_monitor();
  if (wanted.busy_port && wanted.to != p.id) tell(wanted, p.id, atoms::busy_port, port);
}

void monitor_busy_connection(Process& p, Term controller) {
  const SystemMonitor wanted = system_monitor();
  if (wanted.busy_dist_port && wanted.to != p.id) tell(wanted, p.id, atoms::busy_dist_port, controller);
}

bool slices_monitored() { return slice_limit_ms.load(std::memory_order_relaxed) != kNever; }

void monitor_port_task(Term port, Term operation, Word begun_ns) {
  static const Term port_op = intern_atom("port_op");
  const Word ms = (monotonic_ns() - begun_ns) / kNsPerMs;
  if (ms <= slice_limit_ms.load(std::memory_order_relaxed)) return;
  const SystemMonitor wanted = system_monitor();
  if (!wanted.long_schedule_ms || ms <= wanted.long_schedule_ms) return;
  Arena arena;
  ListBuilder items(arena);
  items.add(new_tuple(arena, atoms::timeout, Term::small(static_cast<SWord>(ms))));
  items.add(new_tuple(arena, port_op, operation));
  tell(wanted, port, atoms::long_schedule, items.finish());
}

SliceMonitor::SliceMonitor(const Process& p) {
  if (!slices_monitored()) return;
  begun_ns_ = monotonic_ns();
  in_ = resume_function(p);
}

void SliceMonitor::finish(Process& p, bool has_ended) const {
  if (!begun_ns_) return;
  const Word ms = (monotonic_ns() - begun_ns_) / kNsPerMs;
  if (ms <= slice_limit_ms.load(std::memory_order_relaxed)) return;
  const SystemMonitor wanted = system_monitor();
  if (!wanted.long_schedule_ms || ms <= wanted.long_schedule_ms || wanted.to == p.id) return;
  Arena arena;
  ListBuilder items(arena);
  items.add(new_tuple(arena, atoms::timeout, Term::small(static_cast<SWord>(ms))));
  items.add(new_tuple(arena, atoms::in, function_term(arena, in_)));
  items.add(
      new_tuple(arena, atoms::out, has_ended ? atoms::undefined : function_term(arena, resume_function(p))));
  tell(wanted, p.id, atoms::long_schedule, items.finish());
}

}  // namespace vmrun

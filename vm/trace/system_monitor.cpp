#include "vm/trace/system_monitor.hpp"

#include <mutex>

#include "probes/inside.hpp"
#include "vm/base/clock.hpp"
#include "vm/heap/build.hpp"
#include "vm/process/table.hpp"
#include "vm/trace/tracer.hpp"

namespace vmrun {

std::atomic<bool> collections_monitored{false};

namespace {

std::mutex monitor_mutex;
SystemMonitor wanted_now;

/// Its limits, for every collection and slice to ask before it locks anything.
constexpr Word kNever = ~Word{0};
std::atomic<Word> slice_limit_ms{kNever}, gc_limit_ms{kNever}, heap_limit_words{kNever};

void set_limit(std::atomic<Word>& limit, Word wanted) {
  limit.store(wanted ? wanted : kNever, std::memory_order_relaxed);
}

constexpr Word kNsPerMs = 1'000'000;

/// Under the mutex.
void set_now(const SystemMonitor& wanted) {
  const bool slices = wanted.long_schedule_ms != 0, slices_before = wanted_now.long_schedule_ms != 0;
  if (slices && !slices_before) probe::raise_watch("slice");
  if (!slices && slices_before) probe::lower_watch("slice");
  set_limit(slice_limit_ms, wanted.long_schedule_ms);
  set_limit(gc_limit_ms, wanted.long_gc_ms);
  set_limit(heap_limit_words, wanted.large_heap_words);
  collections_monitored = wanted.long_gc_ms || wanted.large_heap_words;
  wanted_now = wanted;
}

struct Item {
  Term name;
  Term value;
};

Term item_list(Heap& heap, const Item* items, std::size_t count) {
  Term list = Term::nil();
  for (std::size_t i = count; i-- > 0;) {
    Term* hp = heap.alloc(5);
    const Term pair = make_tuple(hp, items[i].name, items[i].value);
    list = make_cons(hp, pair, list);
  }
  return list;
}

void tell(const SystemMonitor& wanted, const Process& p, Term event, Term info) {
  Arena arena;
  Term* hp = arena.alloc(5);
  if (!deliver_trace_event(wanted.to, make_tuple(hp, atoms::monitor, p.id, event, info)))
    system_monitor();  // it has died
}

void tell_heap(const SystemMonitor& wanted, const Process& p, Term event, const Item* first) {
  const Heap& h = p.heap;
  const auto words = [](SWord n) { return Term::small(n); };
  Item items[] = {
      {},
      {atoms::old_heap_block_size, words(h.old_end - h.old_start)},
      {atoms::heap_block_size, words(static_cast<SWord>(h.block_words()))},
      {atoms::mbuf_size, words(static_cast<SWord>(h.fragment_words))},
      {atoms::stack_size, words(static_cast<SWord>(h.stack_words()))},
      {atoms::old_heap_size, words(h.old_top - h.old_start)},
      {atoms::heap_size, words(static_cast<SWord>(h.used_words()))},
  };
  Arena arena;
  if (first) items[0] = *first;
  tell(wanted, p, event,
       first ? item_list(arena, items, std::size(items)) : item_list(arena, items + 1, std::size(items) - 1));
}

Term function_term(Heap& heap, const FunctionName& f) {
  Term* hp = heap.alloc(4);
  return make_tuple(hp, f.module, f.function, Term::small(f.arity));
}

}  // namespace

namespace {

/// Under the mutex.
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

void monitor_collection(Process& p, Word spent_ns) {
  const Word ms = spent_ns / kNsPerMs;
  const Word words = p.heap.block_words() + static_cast<Word>(p.heap.old_end - p.heap.old_start);
  if (ms <= gc_limit_ms.load(std::memory_order_relaxed) &&
      words < heap_limit_words.load(std::memory_order_relaxed))
    return;
  const SystemMonitor wanted = system_monitor();
  if (!wanted.to || wanted.to == p.id) return;
  if (wanted.long_gc_ms && ms > wanted.long_gc_ms) {
    const Item time{atoms::timeout, Term::small(static_cast<SWord>(ms))};
    tell_heap(wanted, p, atoms::long_gc, &time);
  }
  if (wanted.large_heap_words && words >= wanted.large_heap_words)
    tell_heap(wanted, p, atoms::large_heap, nullptr);
}

void monitor_busy_port(Process& p, Term port) {
  const SystemMonitor wanted = system_monitor();
  if (wanted.busy_port && wanted.to != p.id) tell(wanted, p, atoms::busy_port, port);
}

void monitor_busy_connection(Process& p, Term controller) {
  const SystemMonitor wanted = system_monitor();
  if (wanted.busy_dist_port && wanted.to != p.id) tell(wanted, p, atoms::busy_dist_port, controller);
}

SliceMonitor::SliceMonitor(const Process& p) {
  if (slice_limit_ms.load(std::memory_order_relaxed) == kNever) return;
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
  const Item items[] = {
      {atoms::timeout, Term::small(static_cast<SWord>(ms))},
      {atoms::in, function_term(arena, in_)},
      {atoms::out, has_ended ? atoms::undefined : function_term(arena, resume_function(p))},
  };
  tell(wanted, p, atoms::long_schedule, item_list(arena, items, std::size(items)));
}

}  // namespace vmrun

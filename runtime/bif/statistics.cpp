// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>

#include "runtime/bif/bifs_generated.hpp"
#include "runtime/bif/microstates.hpp"
#include "runtime/bif/scheduling.hpp"
#include "runtime/bif/system_items.hpp"
#include "vm/base/clock.hpp"
#include "vm/base/memory_count.hpp"
#include "vm/port/port.hpp"
#include "vm/sched/scheduler.hpp"

/// erlang:statistics/1.
namespace vmrun {
namespace {

Word total_slices() {
  Word sum = 0;
  for (unsigned i = 0; i < scheduler_count(); ++i)
    sum += scheduler_at(i).slices.load(std::memory_order_relaxed);
  return sum;
}

Word cpu_ms() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<Word>(usage.ru_utime.tv_sec) * 1000 + static_cast<Word>(usage.ru_utime.tv_usec) / 1000;
}
/// {Total, SinceLastCall}.
Term with_difference(Process& p, Word total, std::atomic<Word>& last) {
  const Word before = last.exchange(total, std::memory_order_relaxed);
  return new_tuple(p.heap, number_term(p, total), number_term(p, total >= before ? total - before : 0));
}

const SystemItem kStatistics[] = {
    {"runtime",
     [](Process& p) {
       static std::atomic<Word> last{0};
       return with_difference(p, cpu_ms(), last);
     }},
    {"wall_clock",
     [](Process& p) {
       static std::atomic<Word> last{0};
       return with_difference(p, (monotonic_ns() - machine_start_ns) / 1'000'000, last);
     }},
    {"reductions",
     [](Process& p) {
       static std::atomic<Word> last{0};
       return with_difference(p, total_reductions(), last);
     }},
    {"exact_reductions",
     [](Process& p) {
       static std::atomic<Word> last{0};
       return with_difference(
           p, total_reductions() + static_cast<Word>(this_scheduler()->slice - p.reductions), last);
     }},
    {"context_switches",
     [](Process& p) { return new_tuple(p.heap, number_term(p, total_slices()), Term::small(0)); }},
    {"run_queue", [](Process& p) { return number_term(p, total_queue_length(false, false)); }},
    {"total_run_queue_lengths", [](Process& p) { return number_term(p, total_queue_length(false, false)); }},
    {"total_run_queue_lengths_all",
     [](Process& p) { return number_term(p, total_queue_length(true, false)); }},
    {"run_queue_lengths", [](Process& p) { return queue_lengths(p, false, false); }},
    {"run_queue_lengths_all", [](Process& p) { return queue_lengths(p, true, false); }},
    {"run_queues", queue_lengths_tuple},
    {"active_tasks", [](Process& p) { return queue_lengths(p, false, true); }},
    {"active_tasks_all", [](Process& p) { return queue_lengths(p, true, true); }},
    {"total_active_tasks", [](Process& p) { return number_term(p, total_queue_length(false, true)); }},
    {"total_active_tasks_all", [](Process& p) { return number_term(p, total_queue_length(true, true)); }},
    {"garbage_collection",
     [](Process& p) {
       return new_tuple(p.heap, number_term(p, memory_counted(MemoryKind::kCollections)),
                        number_term(p, memory_counted(MemoryKind::kReclaimedWords)), Term::small(0));
     }},
    {"io",
     [](Process& p) {
       const PortTraffic bytes = port_traffic();
       const Term input = new_tuple(p.heap, intern_atom("input"), number_term(p, bytes.input));
       return new_tuple(p.heap, input,
                        new_tuple(p.heap, intern_atom("output"), number_term(p, bytes.output)));
     }},
    {"microstate_accounting", microstate_accounting},
    {"scheduler_wall_time", [](Process& p) { return scheduler_wall_time(p, false); }},
    {"scheduler_wall_time_all", [](Process& p) { return scheduler_wall_time(p, true); }},
};

}  // namespace

Word total_reductions() {
  Word sum = 0;
  for (unsigned i = 0; i < schedulers_started(); ++i)
    sum += scheduler_at(i).reductions_done.load(std::memory_order_relaxed);
  return sum;
}

Term bif_erlang_statistics_1(Process& p, const Term* a) { return answer_item(p, kStatistics, a[0]); }

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#include "runtime/bif/microstates.hpp"

#include <mutex>

#include "probes/inside.hpp"
#include "runtime/bif/support.hpp"
#include "vm/base/microstate.hpp"
#include "vm/term/big.hpp"
#include "vm/term/map.hpp"
#include "vm/trace/system_monitor.hpp"

namespace vmrun {

namespace {

// Indexed by Microstate and ThreadKind.
constexpr const char* kStateNames[] = {"aux", "check_io", "emulator", "gc", "other", "port", "sleep"};
static_assert(std::size(kStateNames) == kMicrostates);
constexpr const char* kKindNames[] = {"scheduler", "dirty_cpu_scheduler", "dirty_io_scheduler", "async",
                                      "poll"};

/// Slices are accounted for when they are observed, collections when they are monitored.
bool measure(bool on) {
  static std::mutex mutex;
  const std::lock_guard guard(mutex);
  const bool before = measure_microstates(on);
  if (on == before) return before;
  if (on) probe::raise_watch("run_queue");
  else probe::lower_watch("run_queue");
  note_measured_collections();
  return before;
}

/// #{counters => #{State => Nanoseconds}, id => Number, type => Kind}.
Term thread_times(Process& p, Microstates& thread) {
  const MicrostateTimes times = thread.times();
  Term counters[2 * kMicrostates];
  for (unsigned i = 0; i < kMicrostates; ++i) {
    counters[2 * i] = intern_atom(kStateNames[i]);
    counters[2 * i + 1] = make_unsigned(p.heap, times[i]);
  }
  Term items[] = {intern_atom("counters"), map_from_pairs(p.heap, counters, kMicrostates),
                  intern_atom("id"),       Term::small(thread.number),
                  intern_atom("type"),     intern_atom(kKindNames[static_cast<unsigned>(thread.kind)])};
  return map_from_pairs(p.heap, items, 3);
}

}  // namespace

Term microstate_accounting(Process& p) {
  ListBuilder list(p.heap);
  for (Microstates* thread : accounted_threads()) list.add(thread_times(p, *thread));
  return list.finish();
}

Term set_microstate_accounting(Process& p, Term wish) {
  if (wish == intern_atom("reset")) {
    clear_microstates();
    return bool_term(microstates_measured.load(std::memory_order_relaxed));
  }
  if (wish != atoms::true_ && wish != atoms::false_) return raise_badarg(p);
  const bool before = measure(wish == atoms::true_);
  p.reductions = 0;  // ends this slice, so that accounting covers the next one
  return bool_term(before);
}

}  // namespace vmrun

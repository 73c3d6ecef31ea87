// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "runtime/bif/bifs_generated.hpp"
#include "runtime/bif/cpu_topology.hpp"
#include "runtime/bif/crash_report.hpp"
#include "runtime/bif/microstates.hpp"
#include "runtime/bif/process_options.hpp"
#include "runtime/bif/scheduling.hpp"
#include "runtime/bif/system_items.hpp"
#include "runtime/bif/system_mode.hpp"
#include "vm/base/time_offset.hpp"
#include "vm/code/exceptions.hpp"
#include "vm/lifecycle/gc.hpp"
#include "vm/lifecycle/spawn.hpp"
#include "vm/process/report.hpp"
#include "vm/sched/binding.hpp"
#include "vm/trace/call_trace.hpp"
#include "vm/trace/seq_trace.hpp"

/// erlang:system_flag/2.
namespace vmrun {
namespace {

constexpr SWord kMostOutstandingRequests = 134217727;

Term set_least_heap(Process& p, Term value) {
  SWord n;
  if (!small_in_range(value, 0, SWord{1} << 32, &n)) return raise_badarg(p);
  const Word old = default_min_heap_words(), words = next_heap_size(static_cast<Word>(n));
  spawn_defaults.min_heap_words = words == kToldHeapWords ? 0 : words;  // the same as if it had never been
  return number_term(p, old);
}

Term set_default_max_heap_size(Process& p, Term value) {
  MaxHeap most = spawn_defaults.max_heap;
  if (!read_max_heap(value, default_min_heap_words(), &most)) return raise_badarg(p);
  const Term old = default_max_heap_size(p);
  spawn_defaults.max_heap = most;
  return old;
}

/// (Users are to state these on the command line.)
void report_deprecated(const std::string& flag) {
  report_warning("A call to erlang:system_flag(" + flag + ", _) was made. The flag is deprecated.\n");
}

/// Takes false, a process or port, or {Module, State}; returns the old one. The module that stands
/// for processes and ports may be named.
Term set_sequential_tracer(Process& p, Term tracer) {
  static const Term erl_tracer = intern_atom("erl_tracer");
  const Term old = seq_tracer(p.heap);
  const bool pair = tracer.is_tuple() && tracer.tuple_arity() == 2;
  Term to = pair ? tracer.element(0) : tracer;
  const Term state = pair ? tracer.element(1) : Term::nil();
  const bool names_module = pair && to != erl_tracer;
  if (pair && !names_module) to = state;
  const bool suits =
      names_module ? to.is_atom() && to != atoms::false_ : !to.is_atom() || (to == atoms::false_ && !pair);
  return suits && set_seq_tracer(to, names_module ? state : Term::nil()) ? old : raise_badarg(p);
}

Term set_scheduler_bind_type(Process& p, Term value) {
  report_deprecated("scheduler_bind_type");
  const std::optional<BindType> type = value.is_atom() ? bind_type_named(atom_text(value)) : std::nullopt;
  const BindType before = bind_type();
  if (!type || !set_bind_type(*type)) return raise_badarg(p);
  return intern_atom(kBindTypes[static_cast<unsigned>(before)].name);
}

/// Takes a topology, or undefined: that of the system. Returns the one before.
Term set_topology(Process& p, Term value) {
  report_deprecated("cpu_topology");
  std::optional<std::vector<ProcessorPlace>> places;
  if (value == atoms::undefined) places.emplace();
  else places = places_of_topology(value);
  if (!places) return raise_badarg(p);
  const Term before = cpu_topology(p);
  define_places(std::move(*places));
  bind_schedulers();
  return before;
}

}  // namespace

Term bif_erlang_system_flag_2(Process& p, const Term* a) {
  SWord n;
  if (a[0] == atoms::fullsweep_after) {
    if (!small_in_range(a[1], 0, SWord{1} << 32, &n)) return raise_badarg(p);
    const Term old = Term::small(spawn_defaults.fullsweep_after);
    spawn_defaults.fullsweep_after = static_cast<std::uint16_t>(n > 65535 ? 65535 : n);
    return old;
  }
  if (a[0] == atoms::min_heap_size) return set_least_heap(p, a[1]);
  if (a[0] == atoms::max_heap_size) return set_default_max_heap_size(p, a[1]);
  if (!a[0].is_atom()) return raise_badarg(p);
  const std::string_view name = atom_text(a[0]);
  if (name == "microstate_accounting") return set_microstate_accounting(p, a[1]);
  if (name == "sequential_tracer") return set_sequential_tracer(p, a[1]);
  if (name == "system_logger")
    return a[1] == atoms::logger || a[1] == atoms::undefined || a[1].is_local_pid() ? set_system_logger(a[1])
                                                                                    : raise_badarg(p);
  if (name == "outstanding_system_requests_limit") {
    if (!small_in_range(a[1], 1, kMostOutstandingRequests, &n)) return raise_badarg(p);
    const Word old = outstanding_requests_limit();
    set_outstanding_requests_limit(static_cast<unsigned>(n));
    return number_term(p, old);
  }
  if (name == "backtrace_depth") {
    if (!small_in_range(a[1], 0, SWord{1} << 32, &n)) return raise_badarg(p);
    return Term::small(
        backtrace_depth.exchange(static_cast<unsigned>(std::min<SWord>(n, kMaxBacktraceDepth))));
  }
  if (name == "reset_seq_trace" && a[1] == atoms::true_) {
    reset_seq_trace();
    return atoms::true_;
  }
  if (name == "trace_control_word") {
    if (!small_in_range(a[1], 0, UINT32_MAX, &n)) return raise_badarg(p);
    return Term::small(trace_control_word.exchange(static_cast<std::uint32_t>(n)));
  }
  if (name == "scheduler_bind_type") return set_scheduler_bind_type(p, a[1]);
  if (name == "cpu_topology") return set_topology(p, a[1]);
  if (name == "time_offset" && a[1] == intern_atom("finalize")) return time_offset_state(finalize_offset());
  const std::optional<Term> of_schedulers = set_scheduling_flag(p, a);
  return of_schedulers ? *of_schedulers : raise_badarg(p);
}

}  // namespace vmrun

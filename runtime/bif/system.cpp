#include <signal.h>
#include <sys/resource.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "probes/probes.hpp"
#include "runtime/bif/allocators.hpp"
#include "runtime/bif/bifs_generated.hpp"
#include "runtime/bif/cpu_topology.hpp"
#include "runtime/bif/crash_report.hpp"
#include "runtime/bif/inside.hpp"
#include "runtime/bif/memory_items.hpp"
#include "runtime/bif/microstates.hpp"
#include "runtime/bif/process_options.hpp"
#include "runtime/bif/scheduling.hpp"
#include "runtime/bif/support.hpp"
#include "runtime/bif/system_mode.hpp"
#include "runtime/bif/system_version.hpp"
#include "runtime/ets/table.hpp"
#include "vm/base/clock.hpp"
#include "vm/base/halt.hpp"
#include "vm/base/memory_count.hpp"
#include "vm/base/processors.hpp"
#include "vm/base/time_offset.hpp"
#include "vm/base/version.hpp"
#include "vm/code/code_server.hpp"
#include "vm/code/exceptions.hpp"
#include "vm/dist/channels.hpp"
#include "vm/dist/connection.hpp"
#include "vm/heap/literal.hpp"
#include "vm/hot/heating.hpp"
#include "vm/include/erl_driver.h"
#include "vm/include/erl_nif.h"
#include "vm/lifecycle/gc.hpp"
#include "vm/lifecycle/spawn.hpp"
#include "vm/nif/dirty.hpp"
#include "vm/port/async.hpp"
#include "vm/port/port.hpp"
#include "vm/process/table.hpp"
#include "vm/sched/online.hpp"
#include "vm/sched/scheduler.hpp"
#include "vm/term/big.hpp"
#include "vm/term/map.hpp"
#include "vm/term/node.hpp"
#include "vm/trace/call_trace.hpp"
#include "vm/trace/seq_trace.hpp"

/// What the machine says about itself: system_info, statistics, memory. Also halt.
namespace vmrun {
namespace {

Term number(Process& p, Word n) { return make_unsigned(p.heap, n); }

Word total_reductions() {
  Word sum = 0;
  for (unsigned i = 0; i < scheduler_count(); ++i)
    sum += scheduler_at(i).reductions_done.load(std::memory_order_relaxed);
  return sum;
}
Word total_slices() {
  Word sum = 0;
  for (unsigned i = 0; i < scheduler_count(); ++i)
    sum += scheduler_at(i).slices.load(std::memory_order_relaxed);
  return sum;
}

// ---- system_info --------------------------------------------------------------------------------

#ifdef VMRUN_NATIVE_DTRACE
constexpr const char* kTracing = "dtrace";
#else
constexpr const char* kTracing = "systemtap";
#endif

struct SystemItem {
  const char* name;
  Term (*value)(Process& p);
};

const Word start_ns = monotonic_ns();

Word min_heap_words() {
  return spawn_defaults.min_heap_words ? spawn_defaults.min_heap_words : kToldHeapWords;
}

Term interface_version(Process& p, int major, int minor) {
  return text_list(p.heap, std::to_string(major) + "." + std::to_string(minor));
}

Term time_source(Process& p, const char* clock, Word now) {
  ListBuilder list(p.heap);
  const auto add = [&](const char* name, Term value) {
    list.add(new_tuple(p.heap, intern_atom(name), value));
  };
  add("function", intern_atom("clock_gettime"));
  add("clock_id", intern_atom(clock));
  add("resolution", Term::small(1'000'000'000));
  if (clock == std::string_view("CLOCK_MONOTONIC")) add("extended", intern_atom("no"));
  add("parallel", intern_atom("yes"));
  add("time", number(p, now));
  return list.finish();
}

/// #{error_logger => _, kill => _, size => _}: the defaults of new processes.
Term max_heap_size(Process& p) {
  Term pairs[] = {atoms::error_logger, bool_term(spawn_defaults.max_heap_log),  //
                  atoms::kill,         bool_term(spawn_defaults.max_heap_kill),
                  atoms::size,         Term::small(static_cast<SWord>(spawn_defaults.max_heap_words))};
  return map_from_pairs(p.heap, pairs, 3);
}

/// [{Node, Controller}].
Term dist_controllers(Process& p) {
  ListBuilder list(p.heap);
  dist::for_each_channel([&](dist::Channel& channel) {
    if (const auto connection = channel.connection())
      list.add(new_tuple(p.heap, channel.name, connection->controller));
  });
  return list.finish();
}

Term hot_code_info(Process& p) {
  const HotCodeUse use = hot_code_use();
  ListBuilder list(p.heap);
  list.add(new_tuple(p.heap, intern_atom("made"), bool_term(use.is_made)));
  list.add(new_tuple(p.heap, intern_atom("functions"), number(p, use.functions)));
  list.add(new_tuple(p.heap, intern_atom("bytes"), number(p, use.bytes)));
  return list.finish();
}

/// Indexed by TimeWarp.
constexpr struct {
  const char* mode;
  const char* offset;  // when no longer preliminary
} kTimeWarps[] = {{"no_time_warp", "final"}, {"single_time_warp", "final"}, {"multi_time_warp", "volatile"}};
Term offset_state(bool is_preliminary) {
  return intern_atom(is_preliminary ? "preliminary" : kTimeWarps[static_cast<unsigned>(time_warp())].offset);
}

/// How many requests OTP's system processes may have outstanding; they check it themselves.
std::atomic<Word> most_outstanding_requests{0};  // 0: OTP's default
constexpr SWord kMostOutstandingRequests = 134217727;
Word outstanding_requests_limit() {
  const Word set = most_outstanding_requests.load(std::memory_order_relaxed);
  return set ? set : Word{2} * scheduler_count();
}

const SystemItem kInfo[] = {
    {"schedulers", [](Process&) { return Term::small(scheduler_count()); }},
    {"schedulers_online", [](Process&) { return Term::small(schedulers_online()); }},
    {"dirty_cpu_schedulers", [](Process&) { return Term::small(dirty_cpu_schedulers()); }},
    {"dirty_cpu_schedulers_online", [](Process&) { return Term::small(dirty_cpu_schedulers_online()); }},
    {"thread_pool_size", [](Process&) { return Term::small(async_thread_count); }},
    {"dirty_io_schedulers", [](Process&) { return Term::small(dirty_io_schedulers()); }},
    {"scheduler_id", [](Process&) { return Term::small(this_scheduler()->number); }},
    {"logical_processors", [](Process&) { return Term::small(processors().configured); }},
    {"logical_processors_online", [](Process&) { return Term::small(processors().online); }},
    {"logical_processors_available", [](Process&) { return Term::small(processors().available); }},
    {"cpu_quota",
     [](Process&) {
       const std::optional<unsigned> quota = processors().quota;
       return quota ? Term::small(*quota) : intern_atom("unknown");
     }},
    {"process_count", [](Process& p) { return number(p, process_table.count()); }},
    {"process_limit", [](Process& p) { return number(p, process_table.limit()); }},
    {"port_count", [](Process& p) { return number(p, port_table.count_seen_by_programs()); }},
    {"port_limit", [](Process& p) { return number(p, port_table.limit()); }},
    {"atom_count", [](Process& p) { return number(p, atom_count()); }},
    {"atom_limit", [](Process& p) { return number(p, atom_limit()); }},
    {"otp_release", [](Process& p) { return text_list(p.heap, otp_release); }},
    {"version", [](Process& p) { return text_list(p.heap, erts_version); }},
    {"system_version", [](Process& p) { return text_list(p.heap, system_version() + "\n"); }},
    {"break_ignored", [](Process&) { return bool_term(break_ignored); }},
    {"trace_control_word", [](Process&) { return Term::small(trace_control_word.load()); }},
    {"machine", [](Process& p) { return text_list(p.heap, "BEAM"); }},
    {"hot_code", [](Process& p) { return hot_code_info(p); }},
    {"wordsize", [](Process&) { return Term::small(sizeof(Word)); }},
    {"smp_support", [](Process&) { return atoms::true_; }},
    {"threads", [](Process&) { return atoms::true_; }},
    {"heap_type", [](Process&) { return intern_atom("private"); }},
    {"emu_type", [](Process&) { return intern_atom("opt"); }},
    {"emu_flavor", [](Process&) { return intern_atom(hot_code_use().is_made ? "jit" : "emu"); }},
    {"build_type", [](Process&) { return intern_atom("opt"); }},
    {"multi_scheduling", [](Process&) { return multi_scheduling(); }},
    {"multi_scheduling_blockers", blockers},
    {"normal_multi_scheduling_blockers", normal_blockers},
    {"scheduler_bind_type", [](Process&) { return intern_atom("unbound"); }},
    {"scheduler_bindings",
     [](Process& p) {
       const unsigned n = scheduler_count();
       Term* hp = p.heap.alloc(n + 1);
       std::fill_n(hp + 1, n, intern_atom("unbound"));
       hp[0] = Term::header(Term::Sub::kTuple, n);
       return Term::boxed(hp);
     }},
    {"cpu_topology", cpu_topology},
    {"port_parallelism", [](Process&) { return bool_term(system_mode.port_parallelism); }},
    {"lock_counting", [](Process&) { return atoms::false_; }},
    {"debug_compiled", [](Process&) { return atoms::false_; }},
    {"modified_timing_level",
     [](Process&) {
       return system_mode.timing_level < 0 ? atoms::undefined : Term::small(system_mode.timing_level);
     }},
    {"dist_ctrl", dist_controllers},
    {"alloc_util_allocators", allocator_names},
    {"dist_buf_busy_limit",
     [](Process& p) { return number(p, dist::busy_limit.load(std::memory_order_relaxed)); }},
    {"outstanding_system_requests_limit", [](Process& p) { return number(p, outstanding_requests_limit()); }},
    {"compat_rel", [](Process&) { return Term::small(std::atoi(otp_release.c_str())); }},
    {"driver_version",
     [](Process& p) {
       return interface_version(p, ERL_DRV_EXTENDED_MAJOR_VERSION, ERL_DRV_EXTENDED_MINOR_VERSION);
     }},
    {"nif_version",
     [](Process& p) { return interface_version(p, ERL_NIF_MAJOR_VERSION, ERL_NIF_MINOR_VERSION); }},
    {"ets_count",
     [](Process& p) {
       Word n = 0;
       ets::for_each_table([&](const ets::Table&) { ++n; });
       return number(p, n);
     }},
    {"ets_always_compress", [](Process&) { return atoms::false_; }},
    {"ets_limit", [](Process&) { return Term::small(system_mode.ets_limit); }},
    {"os_type", [](Process& p) { return bif_os_type_0(p, nullptr); }},
    {"os_version", [](Process& p) { return bif_os_version_0(p, nullptr); }},
    {"system_logger", [](Process&) { return system_logger(); }},
    {"update_cpu_info", [](Process&) { return intern_atom(update_processors() ? "changed" : "unchanged"); }},
    {"emu_args",
     [](Process& p) {
       ListBuilder list(p.heap);
       for (const std::string& word : emulator_words) list.add(code_point_list(p.heap, word));
       return list.finish();
     }},
    {"dynamic_trace", [](Process&) { return probe::kCompiledIn ? intern_atom(kTracing) : atoms::none; }},
    {"dynamic_trace_probes", [](Process&) { return bool_term(probe::kCompiledIn); }},
    {"sequential_tracer",
     [](Process& p) { return new_tuple(p.heap, intern_atom("sequential_tracer"), seq_tracer(p.heap)); }},
    {"system_architecture", [](Process& p) { return text_list(p.heap, "x86_64-pc-linux-gnu"); }},
    {"endian", [](Process&) { return intern_atom("little"); }},
    {"creation", [](Process& p) { return number(p, local_node_creation()); }},
    {"time_warp_mode",
     [](Process&) { return intern_atom(kTimeWarps[static_cast<unsigned>(time_warp())].mode); }},
    {"time_correction", [](Process&) { return bool_term(system_mode.time_correction); }},
    {"time_offset", [](Process&) { return offset_state(offset_is_preliminary()); }},
    {"tolerant_timeofday", [](Process&) { return intern_atom("enabled"); }},
    {"kernel_poll", [](Process&) { return atoms::true_; }},
    {"start_time", [](Process& p) { return number(p, start_ns); }},
    {"end_time",
     [](Process& p) { return number(p, (Word{1} << 63) - 1 - static_cast<Word>(time_offset_ns())); }},
    {"os_monotonic_time_source",
     [](Process& p) { return time_source(p, "CLOCK_MONOTONIC", monotonic_ns()); }},
    {"os_system_time_source", [](Process& p) { return time_source(p, "CLOCK_REALTIME", system_ns()); }},
    {"max_heap_size", max_heap_size},
    {"garbage_collection",
     [](Process& p) {
       ListBuilder list(p.heap);
       const auto add = [&](const char* name, Word n) {
         list.add(new_tuple(p.heap, intern_atom(name), number(p, n)));
       };
       add("max_heap_size", spawn_defaults.max_heap_words);
       add("min_bin_vheap_size", kOffHeapLimitWords);
       add("min_heap_size", min_heap_words());
       add("fullsweep_after", spawn_defaults.fullsweep_after);
       return list.finish();
     }},
    {"fullsweep_after",
     [](Process& p) {
       return new_tuple(p.heap, atoms::fullsweep_after, Term::small(spawn_defaults.fullsweep_after));
     }},
    {"min_heap_size",
     [](Process& p) { return new_tuple(p.heap, atoms::min_heap_size, number(p, min_heap_words())); }},
    {"min_bin_vheap_size",
     [](Process& p) { return new_tuple(p.heap, atoms::min_bin_vheap_size, number(p, kOffHeapLimitWords)); }},
    {"message_queue_data",
     [](Process&) { return spawn_defaults.off_heap_messages ? atoms::off_heap : atoms::on_heap; }},
    {"c_compiler_used",
     [](Process& p) {
       const Term version = new_tuple(p.heap, Term::small(__GNUC__), Term::small(__GNUC_MINOR__),
                                      Term::small(__GNUC_PATCHLEVEL__));
       return new_tuple(p.heap, intern_atom("gnuc"), version);
     }},
};

// ---- statistics ---------------------------------------------------------------------------------

Word cpu_ms() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<Word>(usage.ru_utime.tv_sec) * 1000 + static_cast<Word>(usage.ru_utime.tv_usec) / 1000;
}
/// {Total, SinceLastCall}.
Term with_difference(Process& p, Word total, std::atomic<Word>& last) {
  const Word before = last.exchange(total, std::memory_order_relaxed);
  return new_tuple(p.heap, number(p, total), number(p, total >= before ? total - before : 0));
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
       return with_difference(p, (monotonic_ns() - start_ns) / 1'000'000, last);
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
     [](Process& p) { return new_tuple(p.heap, number(p, total_slices()), Term::small(0)); }},
    {"run_queue", [](Process& p) { return number(p, total_queue_length(false, false)); }},
    {"total_run_queue_lengths", [](Process& p) { return number(p, total_queue_length(false, false)); }},
    {"total_run_queue_lengths_all", [](Process& p) { return number(p, total_queue_length(true, false)); }},
    {"run_queue_lengths", [](Process& p) { return queue_lengths(p, false, false); }},
    {"run_queue_lengths_all", [](Process& p) { return queue_lengths(p, true, false); }},
    {"run_queues", queue_lengths_tuple},
    {"active_tasks", [](Process& p) { return queue_lengths(p, false, true); }},
    {"active_tasks_all", [](Process& p) { return queue_lengths(p, true, true); }},
    {"total_active_tasks", [](Process& p) { return number(p, total_queue_length(false, true)); }},
    {"total_active_tasks_all", [](Process& p) { return number(p, total_queue_length(true, true)); }},
    {"garbage_collection",
     [](Process& p) {
       return new_tuple(p.heap, number(p, memory_counted(MemoryKind::kCollections)),
                        number(p, memory_counted(MemoryKind::kReclaimedWords)), Term::small(0));
     }},
    {"io",
     [](Process& p) {
       const PortTraffic bytes = port_traffic();
       const Term input = new_tuple(p.heap, intern_atom("input"), number(p, bytes.input));
       return new_tuple(p.heap, input, new_tuple(p.heap, intern_atom("output"), number(p, bytes.output)));
     }},
    {"microstate_accounting", microstate_accounting},
    {"scheduler_wall_time", [](Process& p) { return scheduler_wall_time(p, false); }},
    {"scheduler_wall_time_all", [](Process& p) { return scheduler_wall_time(p, true); }},
};

template <std::size_t N>
Term answer(Process& p, const SystemItem (&items)[N], Term name) {
  if (!name.is_atom()) return raise_badarg(p);
  const std::string_view text = atom_text(name);
  for (const SystemItem& item : items)
    if (text == item.name) return item.value(p);
  return raise_badarg(p);
}

}  // namespace

void set_outstanding_requests_limit(unsigned n) {
  most_outstanding_requests.store(n, std::memory_order_relaxed);
}

/// What file:list_dir does with a name that is not UTF-8: warning, ignore or error.
Term bif_prim_file_unreadable_names_0(Process&, const Term*) {
  return intern_atom(system_mode.unreadable_names);
}
Term bif_io_printable_range_0(Process&, const Term*) { return intern_atom(system_mode.printable_range); }

/// File names are UTF-8 here, whatever the locale says.
Term bif_file_native_name_encoding_0(Process&, const Term*) { return intern_atom("utf8"); }
/// The level that error_logger gives warnings.
Term bif_error_logger_warning_map_0(Process&, const Term*) { return intern_atom(system_mode.warning_map); }

Term bif_erlang_system_info_1(Process& p, const Term* a) {
  const Term item = a[0];
  if (item.is_tuple() && item.tuple_arity() == 2 && item.element(0) == intern_atom("wordsize") &&
      (item.element(1) == intern_atom("internal") || item.element(1) == intern_atom("external")))
    return Term::small(sizeof(Word));
  if (item.is_tuple() && item.tuple_arity() == 2 && item.element(0) == intern_atom("cpu_topology")) {
    if (item.element(1) == intern_atom("defined")) return atoms::undefined;  // never set
    if (item.element(1) == intern_atom("detected") || item.element(1) == intern_atom("used"))
      return cpu_topology(p);
  }
  if (item.is_tuple() && item.tuple_arity() >= 2) {
    const std::optional<Term> of_allocators = allocator_item(p, item);
    if (of_allocators) return *of_allocators;
  }
  const std::optional<Term> inside = item.is_atom() ? inside_info(p, atom_text(item)) : std::nullopt;
  return inside ? *inside : answer(p, kInfo, item);
}
Term bif_erlang_statistics_1(Process& p, const Term* a) { return answer(p, kStatistics, a[0]); }

namespace {

Term set_least_heap(Process& p, Term value) {
  SWord n;
  if (!small_in_range(value, 0, SWord{1} << 32, &n)) return raise_badarg(p);
  const Word old = min_heap_words(), words = next_heap_size(static_cast<Word>(n));
  spawn_defaults.min_heap_words = words == kToldHeapWords ? 0 : words;  // the same as if it had never been
                                                                        // set
  return number(p, old);
}

Term set_default_max_heap_size(Process& p, Term value) {
  MaxHeap most{spawn_defaults.max_heap_words, spawn_defaults.max_heap_kill, spawn_defaults.max_heap_log};
  if (!read_own_max_heap(value, min_heap_words(), &most)) return raise_badarg(p);
  const Term old = max_heap_size(p);
  spawn_defaults.max_heap_words = most.words;
  spawn_defaults.max_heap_kill = most.kill;
  spawn_defaults.max_heap_log = most.log;
  return old;
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
    most_outstanding_requests.store(static_cast<Word>(n), std::memory_order_relaxed);
    return number(p, old);
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
  // Threads are not bound to cores.
  if (name == "scheduler_bind_type" &&
      (a[1] == intern_atom("unbound") || a[1] == intern_atom("default_bind")))
    return intern_atom("unbound");
  if (name == "time_offset" && a[1] == intern_atom("finalize")) return offset_state(finalize_offset());
  const std::optional<Term> of_schedulers = set_scheduling_flag(p, a);
  return of_schedulers ? *of_schedulers : raise_badarg(p);
}

// ---- Memory -------------------------------------------------------------------------------------

namespace {

struct Memory {
  Word total, processes, system, atom, binary, code, ets;
};

Word code_bytes() {
  Word sum = all_exports().size() * sizeof(Export) + hot_code_use().bytes;
  for (const Module* m : loaded_modules()) {
    sum += module_bytes(*m);
    if (const Module* old = old_module(m->name)) sum += module_bytes(*old);
  }
  return sum;
}

Word table_bytes() {
  Word sum = 0;
  ets::for_each_table([&](const ets::Table& t) { sum += t.memory_words() * sizeof(Word); });
  return sum;
}

/// Memory divided as in OTP. `processes` are their structures, heaps and messages. The rest is
/// `system`, in which literals (persistent terms, constants of modules) have no item of their own.
/// Memory that the allocator keeps for later, or that belongs to none of these, is not counted.
Memory measure() {
  Memory m{};
  m.processes = process_table.count() * sizeof(Process) + memory_counted(MemoryKind::kHeaps);
  m.atom = atom_count() * 48;
  m.binary = memory_counted(MemoryKind::kBinaries);
  m.code = code_bytes();
  m.ets = table_bytes();
  m.system = m.atom + m.binary + m.code + m.ets + literal_words_used() * sizeof(Word);
  m.total = m.processes + m.system;
  return m;
}

struct MemoryItem {
  const char* name;
  Word Memory::*field;
};
const MemoryItem kMemory[] = {
    {"total", &Memory::total},   {"processes", &Memory::processes}, {"processes_used", &Memory::processes},
    {"system", &Memory::system}, {"atom", &Memory::atom},           {"atom_used", &Memory::atom},
    {"binary", &Memory::binary}, {"code", &Memory::code},           {"ets", &Memory::ets},
};

Term memory_item(Process& p, const Memory& m, Term name) {
  if (!name.is_atom()) return kNonValue;
  for (const MemoryItem& item : kMemory)
    if (atom_text(name) == item.name) return number(p, m.*item.field);
  return kNonValue;
}

}  // namespace

std::vector<std::pair<const char*, Word>> memory_items() {
  const Memory m = measure();
  std::vector<std::pair<const char*, Word>> items;
  for (const MemoryItem& item : kMemory) items.emplace_back(item.name, m.*item.field);
  return items;
}

Term bif_erlang_memory_0(Process& p, const Term*) {
  const Memory m = measure();
  ListBuilder list(p.heap);
  for (const MemoryItem& item : kMemory)
    list.add(new_tuple(p.heap, intern_atom(item.name), number(p, m.*item.field)));
  return list.finish();
}
Term bif_erlang_memory_1(Process& p, const Term* a) {
  const Memory m = measure();
  if (!a[0].is_cons_or_nil()) {
    const Term value = memory_item(p, m, a[0]);
    return value ? value : raise_badarg(p);
  }
  ListBuilder list(p.heap);
  Term rest = a[0];
  for (; rest.is_list(); rest = rest.tail()) {
    const Term value = memory_item(p, m, rest.head());
    if (!value) return raise_badarg(p);
    list.add(new_tuple(p.heap, rest.head(), value));
  }
  return rest.is_nil() ? list.finish() : raise_badarg(p);
}

// ---- The end ------------------------------------------------------------------------------------

namespace {

Term halt(Process& p, Term status, Term options) {
  bool flush = true;
  for (; options.is_list(); options = options.tail()) {
    const Term o = options.head();
    if (!o.is_tuple() || o.tuple_arity() != 2 || o.element(0) != atoms::flush) return raise_badarg(p);
    if (o.element(1) != atoms::true_ && o.element(1) != atoms::false_) return raise_badarg(p);
    flush = o.element(1) == atoms::true_;
  }
  if (!options.is_nil()) return raise_badarg(p);
  static const Term abort_atom = intern_atom("abort");
  SWord code;
  std::string slogan;
  if (status == abort_atom) {
    ::signal(SIGABRT, SIG_DFL);  // a core, no crash dump
    std::abort();
  } else if (small_in_range(status, 0, Term::kSmallMax, &code)) {
    begin_to_hold_processes();  // the main thread may be late
    request_halt({.status = static_cast<int>(code & 0xFF), .flush = flush});
  } else if (list_to_utf8(status, &slogan)) {
    request_halt({.status = 1, .flush = false, .dump = true, .slogan = std::move(slogan)});
  } else {
    return raise_badarg(p);
  }
  return suspend_and_retry(p);  // the machine stops under it
}

}  // namespace

Term bif_erlang_halt_0(Process& p, const Term*) { return halt(p, Term::small(0), Term::nil()); }
Term bif_erlang_halt_1(Process& p, const Term* a) { return halt(p, a[0], Term::nil()); }
Term bif_erlang_halt_2(Process& p, const Term* a) { return halt(p, a[0], a[1]); }

}  // namespace vmrun

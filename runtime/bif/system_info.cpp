// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdlib>
#include <string>
#include <vector>

#include "probes/probes.hpp"
#include "runtime/bif/allocators.hpp"
#include "runtime/bif/bifs_generated.hpp"
#include "runtime/bif/cpu_topology.hpp"
#include "runtime/bif/crash_report.hpp"
#include "runtime/bif/scheduling.hpp"
#include "runtime/bif/support.hpp"
#include "runtime/bif/system_items.hpp"
#include "runtime/bif/system_mode.hpp"
#include "runtime/bif/system_texts.hpp"
#include "runtime/bif/system_version.hpp"
#include "runtime/ets/table.hpp"
#include "vm/base/clock.hpp"
#include "vm/base/halt.hpp"
#include "vm/base/processors.hpp"
#include "vm/base/release.hpp"
#include "vm/base/time_offset.hpp"
#include "vm/dist/channels.hpp"
#include "vm/dist/connection.hpp"
#include "vm/hot/heating.hpp"
#include "vm/include/erl_driver.h"
#include "vm/include/erl_nif.h"
#include "vm/lifecycle/gc.hpp"
#include "vm/lifecycle/info.hpp"
#include "vm/lifecycle/spawn.hpp"
#include "vm/nif/dirty.hpp"
#include "vm/port/async.hpp"
#include "vm/port/port.hpp"
#include "vm/process/process_table.hpp"
#include "vm/sched/binding.hpp"
#include "vm/sched/online.hpp"
#include "vm/sched/scheduler.hpp"
#include "vm/term/big.hpp"
#include "vm/term/map.hpp"
#include "vm/term/node.hpp"
#include "vm/trace/call_trace.hpp"
#include "vm/trace/seq_trace.hpp"

/// erlang:system_info/1.
namespace vmrun {
namespace {

#ifdef VMRUN_NATIVE_DTRACE
constexpr const char* kTracing = "dtrace";
#else
constexpr const char* kTracing = "systemtap";
#endif

/// As Debian's OTP of the same processor says it.
#if defined(__aarch64__)
constexpr const char* kArchitecture = "aarch64-unknown-linux-gnu";
#else
constexpr const char* kArchitecture = "x86_64-pc-linux-gnu";
#endif

}  // namespace

const Word machine_start_ns = monotonic_ns();

Word table_count() {
  Word n = 0;
  ets::for_each_table([&](const ets::Table&) { ++n; });
  return n;
}

Word default_min_heap_words() {
  return spawn_defaults.min_heap_words ? spawn_defaults.min_heap_words : kToldHeapWords;
}

namespace {

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
  add("time", number_term(p, now));
  return list.finish();
}

}  // namespace

Term default_max_heap_size(Process& p) { return max_heap_term(p.heap, spawn_defaults.max_heap); }

namespace {

/// [{Node, Controller}].
Term dist_controllers(Process& p) {
  ListBuilder list(p.heap);
  dist::for_each_channel([&](dist::Channel& channel) {
    if (const auto connection = channel.connection())
      list.add(new_tuple(p.heap, channel.name, connection->controller));
  });
  return list.finish();
}

/// Indexed by NoCode.
constexpr const char* kNoCodeNames[] = {"arguments", "registers", "places",   "too_long",
                                        "watched",   "native",    "changed",  "no_room",
                                        "no_memory", "too_many",  "no_thread"};
static_assert(std::size(kNoCodeNames) == static_cast<std::size_t>(NoCode::kCount));

Term hot_code_info(Process& p) {
  const HotCodeUse use = hot_code_use();
  ListBuilder counts(p.heap), last(p.heap), list(p.heap);
  for (std::size_t n = 0; n < use.refused.size(); ++n)
    if (use.refused[n])
      counts.add(new_tuple(p.heap, intern_atom(kNoCodeNames[n]), number_term(p, use.refused[n])));
  for (const Refusals::Refusal& r : use.last_refused)
    last.add(new_tuple(p.heap, new_tuple(p.heap, r.module, r.function, Term::small(r.arity)),
                       intern_atom(kNoCodeNames[static_cast<std::size_t>(r.why)])));
  list.add(new_tuple(p.heap, intern_atom("made"), bool_term(hot_code_is_made())));
  const std::pair<const char*, Word> numbers[] = {{"functions", use.codes.functions},
                                                  {"bytes", use.codes.page_bytes},
                                                  {"code_bytes", use.codes.code_bytes},
                                                  {"limit", use.limit},
                                                  {"waiting", use.waiting},
                                                  {"compiled", use.codes.made},
                                                  {"again", use.compiled_again},
                                                  {"given_back", use.codes.given_back},
                                                  {"woken", use.codes.woken}};
  for (const auto& [name, n] : numbers) list.add(new_tuple(p.heap, intern_atom(name), number_term(p, n)));
  list.add(new_tuple(p.heap, intern_atom("refused"), counts.finish()));
  list.add(new_tuple(p.heap, intern_atom("last_refused"), last.finish()));
  return list.finish();
}

/// Indexed by TimeWarp.
constexpr struct {
  const char* mode;
  const char* offset;  // when no longer preliminary
} kTimeWarps[] = {{"no_time_warp", "final"}, {"single_time_warp", "final"}, {"multi_time_warp", "volatile"}};
}  // namespace

Term time_offset_state(bool is_preliminary) {
  return intern_atom(is_preliminary ? "preliminary" : kTimeWarps[static_cast<unsigned>(time_warp())].offset);
}

namespace {

std::atomic<Word> most_outstanding_requests{0};  // 0: OTP's default

}  // namespace

Word outstanding_requests_limit() {
  const Word set = most_outstanding_requests.load(std::memory_order_relaxed);
  return set ? set : Word{2} * scheduler_count();
}

namespace {

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
    {"process_count", [](Process& p) { return number_term(p, process_table.count()); }},
    {"process_limit", [](Process& p) { return number_term(p, process_table.limit()); }},
    {"port_count", [](Process& p) { return number_term(p, port_table.count_seen_by_programs()); }},
    {"port_limit", [](Process& p) { return number_term(p, port_table.limit()); }},
    {"atom_count", [](Process& p) { return number_term(p, atom_count()); }},
    {"atom_limit", [](Process& p) { return number_term(p, atom_limit()); }},
    {"otp_release", [](Process& p) { return text_list(p.heap, otp_release); }},
    {"version", [](Process& p) { return text_list(p.heap, erts_version); }},
    {"system_version", [](Process& p) { return text_list(p.heap, system_version() + "\n"); }},
    {"break_ignored", [](Process&) { return bool_term(break_ignored); }},
    {"trace_control_word", [](Process&) { return Term::small(trace_control_word.load()); }},
    {"machine", [](Process& p) { return text_list(p.heap, "BEAM"); }},
    {"hot_code", [](Process& p) { return hot_code_info(p); }},
    {"wordsize", [](Process&) { return Term::small(sizeof(Word)); }},
    {"max_integer",
     [](Process& p) {
       const std::vector<Word> limbs(max_limbs(), ~Word{0});
       return integer_from_limbs(p.heap, limbs.data(), max_limbs(), false);
     },
     27},
    {"smp_support", [](Process&) { return atoms::true_; }},
    {"threads", [](Process&) { return atoms::true_; }},
    {"heap_type", [](Process&) { return intern_atom("private"); }},
    {"emu_type", [](Process&) { return intern_atom("opt"); }},
    {"emu_flavor", [](Process&) { return intern_atom(hot_code_is_made() ? "jit" : "emu"); }},
    {"build_type", [](Process&) { return intern_atom("opt"); }},
    {"multi_scheduling", [](Process&) { return multi_scheduling(); }},
    {"multi_scheduling_blockers", blockers},
    {"normal_multi_scheduling_blockers", normal_blockers},
    {"scheduler_bind_type",
     [](Process&) { return intern_atom(kBindTypes[static_cast<unsigned>(bind_type())].name); }},
    {"scheduler_bindings",
     [](Process& p) {
       const std::vector<int> bindings = scheduler_bindings();
       Term* hp = p.heap.alloc(bindings.size() + 1);
       hp[0] = Term::header(Term::Sub::kTuple, bindings.size());
       for (std::size_t i = 0; i < bindings.size(); ++i)
         hp[i + 1] = bindings[i] < 0 ? intern_atom("unbound") : Term::small(bindings[i]);
       return Term::boxed(hp);
     }},
    {"cpu_topology", cpu_topology},
    {"port_parallelism", [](Process&) { return bool_term(system_mode.port_parallelism); }},
    {"async_dist", [](Process&) { return bool_term(spawn_defaults.async_dist); }},
    {"lock_counting", [](Process&) { return atoms::false_; }},
    {"debug_compiled", [](Process&) { return atoms::false_; }},
    {"modified_timing_level",
     [](Process&) {
       return system_mode.timing_level < 0 ? atoms::undefined : Term::small(system_mode.timing_level);
     }},
    {"dist_ctrl", dist_controllers},
    {"alloc_util_allocators", allocator_names},
    {"dist_buf_busy_limit",
     [](Process& p) { return number_term(p, dist::busy_limit.load(std::memory_order_relaxed)); }},
    {"halt_flush_timeout",
     [](Process& p) {
       if (!release_has(Trait::kHaltFlushTimeout)) return raise_badarg(p);
       return flush_timeout_of_all_ms < 0 ? atoms::infinity : Term::small(flush_timeout_of_all_ms);
     }},
    {"outstanding_system_requests_limit",
     [](Process& p) { return number_term(p, outstanding_requests_limit()); }},
    {"compat_rel", [](Process&) { return Term::small(std::atoi(otp_release.c_str())); }},
    {"driver_version",
     [](Process& p) {
       return interface_version(p, ERL_DRV_EXTENDED_MAJOR_VERSION, ERL_DRV_EXTENDED_MINOR_VERSION);
     }},
    {"nif_version",
     [](Process& p) {
       return interface_version(p, ERL_NIF_MAJOR_VERSION,
                                static_cast<int>(default_nif_minor_version(release_number)));
     }},
    {"ets_count", [](Process& p) { return number_term(p, table_count()); }},
    {"ets_always_compress", [](Process&) { return atoms::false_; }},
    {"ets_limit", [](Process&) { return Term::small(system_mode.ets_limit); }},
    {"os_type", [](Process& p) { return bif_os_type_0(p, nullptr); }},
    {"os_version", [](Process& p) { return bif_os_version_0(p, nullptr); }},
    {"system_logger", [](Process&) { return system_logger(); }},
    {"update_cpu_info",
     [](Process&) {
       const bool changed = update_processors();
       if (changed) bind_schedulers();
       return intern_atom(changed ? "changed" : "unchanged");
     }},
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
    {"system_architecture", [](Process& p) { return text_list(p.heap, kArchitecture); }},
    {"endian", [](Process&) { return intern_atom("little"); }},
    {"creation", [](Process& p) { return number_term(p, local_node_creation()); }},
    {"time_warp_mode",
     [](Process&) { return intern_atom(kTimeWarps[static_cast<unsigned>(time_warp())].mode); }},
    {"time_correction", [](Process&) { return bool_term(system_mode.time_correction); }},
    {"time_offset", [](Process&) { return time_offset_state(offset_is_preliminary()); }},
    {"tolerant_timeofday",
     [](Process&) {
       return intern_atom(time_warp() == TimeWarp::kNone && system_mode.time_correction ? "enabled"
                                                                                        : "disabled");
     }},
    {"kernel_poll", [](Process&) { return atoms::true_; }},
    {"start_time", [](Process& p) { return number_term(p, machine_start_ns); }},
    {"end_time",
     [](Process& p) { return number_term(p, (Word{1} << 63) - 1 - static_cast<Word>(time_offset_ns())); }},
    {"os_monotonic_time_source",
     [](Process& p) { return time_source(p, "CLOCK_MONOTONIC", monotonic_ns()); }},
    {"os_system_time_source", [](Process& p) { return time_source(p, "CLOCK_REALTIME", system_ns()); }},
    {"max_heap_size", default_max_heap_size},
    {"garbage_collection",
     [](Process& p) {
       ListBuilder list(p.heap);
       const auto add = [&](const char* name, Word n) {
         list.add(new_tuple(p.heap, intern_atom(name), number_term(p, n)));
       };
       add("max_heap_size", spawn_defaults.max_heap.words);
       add("min_bin_vheap_size", kOffHeapLimitWords);
       add("min_heap_size", default_min_heap_words());
       add("fullsweep_after", spawn_defaults.fullsweep_after);
       return list.finish();
     }},
    {"fullsweep_after",
     [](Process& p) {
       return new_tuple(p.heap, atoms::fullsweep_after, Term::small(spawn_defaults.fullsweep_after));
     }},
    {"min_heap_size",
     [](Process& p) {
       return new_tuple(p.heap, atoms::min_heap_size, number_term(p, default_min_heap_words()));
     }},
    {"min_bin_vheap_size",
     [](Process& p) {
       return new_tuple(p.heap, atoms::min_bin_vheap_size, number_term(p, kOffHeapLimitWords));
     }},
    {"message_queue_data",
     [](Process&) { return spawn_defaults.off_heap_messages ? atoms::off_heap : atoms::on_heap; }},
    {"c_compiler_used",
     [](Process& p) {
       const Term version = new_tuple(p.heap, Term::small(__GNUC__), Term::small(__GNUC_MINOR__),
                                      Term::small(__GNUC_PATCHLEVEL__));
       return new_tuple(p.heap, intern_atom("gnuc"), version);
     }},
};

}  // namespace

void set_outstanding_requests_limit(unsigned n) {
  most_outstanding_requests.store(n, std::memory_order_relaxed);
}

Term bif_erlang_system_info_1(Process& p, const Term* a) {
  const Term item = a[0];
  if (item.is_tuple() && item.tuple_arity() == 2 && item.element(0) == intern_atom("wordsize") &&
      (item.element(1) == intern_atom("internal") || item.element(1) == intern_atom("external")))
    return Term::small(sizeof(Word));
  if (item.is_tuple() && item.tuple_arity() == 2 && item.element(0) == intern_atom("cpu_topology")) {
    if (item.element(1) == intern_atom("defined")) return topology_term(p.heap, defined_places());
    if (item.element(1) == intern_atom("detected")) return topology_term(p.heap, detected_places());
    if (item.element(1) == intern_atom("used")) return cpu_topology(p);
  }
  if (item.is_tuple() && item.tuple_arity() >= 2) {
    const std::optional<Term> of_allocators = allocator_item(p, item);
    if (of_allocators) return *of_allocators;
  }
  const std::optional<Term> inside = item.is_atom() ? inside_info(p, atom_text(item)) : std::nullopt;
  return inside ? *inside : answer_item(p, kInfo, item);
}

}  // namespace vmrun

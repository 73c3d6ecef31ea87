// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/boot.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>

#include <fmt/core.h>

#include "drivers/async/pool.hpp"
#include "drivers/linked_in.hpp"
#include "drivers/preloaded/natives.hpp"
#include "drivers/socket/socket_natives.hpp"
#include "drivers/terminal/mode.hpp"
#include "probes/attach/endpoint.hpp"
#include "probes/erltrace/erltrace_natives.hpp"
#include "runtime/bif/bifs_generated.hpp"
#include "runtime/bif/crash_report.hpp"
#include "runtime/bif/dyntrace.hpp"
#include "runtime/bif/support.hpp"
#include "runtime/bif/system_mode.hpp"
#include "runtime/cli/os_signals.hpp"
#include "runtime/code_path/installed_otp.hpp"
#include "runtime/dump/crash_dump.hpp"
#include "vm/base/allocate.hpp"
#include "vm/base/coverage.hpp"
#include "vm/base/crlf.hpp"
#include "vm/base/epoch.hpp"
#include "vm/base/halt.hpp"
#include "vm/base/memory_trim.hpp"
#include "vm/base/processors.hpp"
#include "vm/code/code_server.hpp"
#include "vm/code/count_pairs.hpp"
#include "vm/code/delaying_call.hpp"
#include "vm/code/instruction_support.hpp"
#include "vm/code/interpreter.hpp"
#include "vm/code/line_breakpoints.hpp"
#include "vm/code/line_info.hpp"
#include "vm/code/listing.hpp"
#include "vm/code/reclaim.hpp"
#include "vm/dist/channel.hpp"
#include "vm/for_debuggers.hpp"
#include "vm/heap/copy.hpp"
#include "vm/heap/literal.hpp"
#include "vm/hot/heating.hpp"
#include "vm/hot/perf.hpp"
#include "vm/lifecycle/gc.hpp"
#include "vm/lifecycle/spawn.hpp"
#include "vm/nif/dirty.hpp"
#include "vm/nif/nif_library.hpp"
#include "vm/port/async.hpp"
#include "vm/port/driver_crash.hpp"
#include "vm/port/port.hpp"
#include "vm/port/signals.hpp"
#include "vm/process/process_state.hpp"
#include "vm/process/process_table.hpp"
#include "vm/sched/binding.hpp"
#include "vm/sched/scheduler.hpp"
#include "vm/term/map.hpp"
#include "vm/term/node.hpp"

namespace vmrun::cli {
namespace {

constexpr int kBrokenScriptStatus = 1;

// The assertion makes sure that each thread finds an epoch slot, however many the flags ask for.
// The other threads are the main thread, the poller, and a reader and a writer for each descriptor
// that is read or written.
constexpr unsigned kOtherThreads = 64;
static_assert(kMaxSchedulers + 2 * kMaxDirtySchedulers + kMaxAsyncThreads + kOtherThreads <= kEpochSlots);

int fail(const std::string& message) {
  std::fprintf(stderr, "vmrun: %s\n", message.c_str());
  return kBrokenScriptStatus;
}

Term texts_to_list(Heap& heap, const std::vector<std::string>& texts) {
  ListBuilder list(heap);
  for (const std::string& text : texts) list.add(code_point_list(heap, text));
  return list.finish();
}

Term terms_to_list(Heap& heap, const std::vector<Term>& terms) {
  ListBuilder list(heap);
  for (const Term term : terms) list.add(term);
  return list.finish();
}

/// Makes the list that init:get_argument/1 searches: [{Flag,[Value]}].
Term flags_list(Heap& heap, const std::vector<KeptFlag>& flags) {
  ListBuilder list(heap);
  for (const KeptFlag& flag : flags) {
    const Term values = texts_to_list(heap, flag.values);
    list.add(new_tuple(heap, intern_atom(flag.name), values));
  }
  return list.finish();
}

/// Adds the flags that erl has too. root: of the installed Erlang/OTP, else the folder of this
/// program. bindir: the folder of that installation's programs. progname: this program. home: the
/// user's. epmd_port: from the environment.
std::vector<KeptFlag> all_flags(const Options& o) {
  std::error_code ignored;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const auto is_given = [&](const char* name) {
    return std::ranges::any_of(o.kept_flags, [&](const KeptFlag& flag) { return flag.name == name; });
  };
  const std::string root = !o.otp_root.empty() ? o.otp_root : program.parent_path().string();
  std::vector<KeptFlag> flags{{"root", {root}}};
  if (const std::string bin = otp_bin_directory(root); !bin.empty()) flags.push_back({"bindir", {bin}});
  if (!is_given("progname")) flags.push_back({"progname", {program.string()}});
  if (const char* home = std::getenv("HOME")) flags.push_back({"home", {home}});
  if (const char* port = std::getenv("ERL_EPMD_PORT"); port && !is_given("epmd_port"))
    flags.push_back({"epmd_port", {port}});
  flags.insert(flags.end(), o.kept_flags.begin(), o.kept_flags.end());
  return flags;
}

/// What to run: the script's module, or the modules that evaluate the expressions of flags.
struct Program {
  Term module = atoms::undefined;
  unsigned main_arity = 0;
  std::vector<Term> expressions;
};

/// Makes the argument list of init:boot/1 (described in runtime/lib/README.md).
Term boot_arguments(Heap& heap, const Options& o, const Program& program) {
  const auto pair = [&](std::string_view key, Term value) {
    Term* hp = heap.alloc(3);
    return make_tuple(hp, intern_atom(key), value);
  };
  const Term pairs[] = {
      pair("module", program.module),
      pair("arity", Term::small(program.main_arity)),
      pair("arguments", texts_to_list(heap, o.script_args)),
      pair("expressions", terms_to_list(heap, program.expressions)),
      pair("script", code_point_list(heap, o.script)),
      pair("noinput", o.no_input ? atoms::true_ : atoms::false_),
      pair("flags", flags_list(heap, all_flags(o))),
  };
  Term list = Term::nil();
  for (Term p : pairs) {
    Term* hp = heap.alloc(2);
    list = make_cons(hp, p, list);
  }
  Term* hp = heap.alloc(2);
  return make_cons(hp, list, Term::nil());  // the argument list of boot/1
}

/// Returns nullptr after reporting an error.
Module* load_code(const FoundCode& code) {
  std::fputs(code.messages.c_str(), stderr);
  if (code.kind != FoundCode::Kind::kCode) return nullptr;
  LoadResult loaded =
      load_module(kNonValue, code.begin, static_cast<std::size_t>(code.end - code.begin), code.path);
  if (!loaded.module) fail(loaded.message);
  return loaded.module;
}

/// Loads the expressions of -e and -eval, each as a module of its own ('-eval', '-eval 2', ...),
/// before the first is evaluated. Returns false after reporting an error.
bool load_expressions(const Options& o, const CodeFinder& finder, Program* program) {
  bool all = true;  // so that the errors of several are reported at once
  std::vector<Term> modules;
  const auto load = [&](std::string_view flag, const std::string& text) {
    const std::string name =
        modules.empty() ? std::string(flag) : fmt::format("{} {}", flag, modules.size() + 1);
    const Module* const module = load_code(finder.load_expressions(flag, text, name));
    all = all && module;
    if (module) modules.push_back(module->name);
  };
  for (const std::string& text : o.expressions) load("-e", text);
  for (const KeptFlag& flag : o.kept_flags)  // empty when there is -e
    if (flag.name == "eval" && flag.values.size() == 1) load("-eval", flag.values[0]);
  if (o.expressions.size() == 1 && all) program->module = modules[0];
  else if (!o.expressions.empty()) program->expressions = std::move(modules);
  return all;
}

/// Loads the script. Returns false after reporting an error.
bool load_program(const Options& o, CodeFinder& finder, Program* program) {
  const FoundCode script = finder.load_file(o.script, /*script=*/true);
  const Module* const loaded = load_code(script);
  if (!loaded) return false;
  if (const std::string_view name = atom_text(loaded->name); is_machine_module(name)) {
    fail(fmt::format("{}: the machine itself needs its own module {}: call this one otherwise", o.script,
                     name));
    return false;
  }
  set_module_path(loaded->name, script.path);

  program->module = loaded->name;
  // Reads the module, not the export table: the exports of a module with an on_load function are
  // not visible yet.
  const auto exported = [&](unsigned arity) {
    const auto& exports = loaded->exports;
    return std::any_of(exports.begin(), exports.end(), [&](const auto& x) {
      return x.entry->function == atoms::main && x.entry->arity == arity;
    });
  };
  program->main_arity = exported(1) ? 1 : 0;
  const bool runs = exported(program->main_arity);
  if (!runs) fail(o.script + ": no main/1 or main/0 to run");
  return runs;
}

/// Modules of an installed OTP that need processes and tables which OTP's kernel starts
/// (runtime/lib/installed_kernel.erl).
std::vector<Term> modules_that_need_kernel() {
  std::vector<Term> modules;
  for (const char* name : {"application", "application_controller", "dets_server", "disk_log_server",
                           "global", "global_group", "inet_db", "logger_h_common"})
    modules.push_back(intern_atom(name));
  return modules;
}

}  // namespace

namespace {

/// Ends the machine then, if it has not ended before. The status is the one that OTP has for that.
void end_after(std::chrono::milliseconds time) {
  std::thread([time] {
    std::this_thread::sleep_for(time);
    ::_exit(255);
  }).detach();
}

}  // namespace

namespace {

/// Copies the code to the caller. Returns false when there is no code.
bool hand_over(const FoundCode& code, std::vector<std::uint8_t>* beam, std::string* path) {
  if (code.kind != FoundCode::Kind::kCode) return false;
  beam->assign(code.begin, code.end);
  *path = code.path;
  return true;
}

}  // namespace

// Warnings and errors of modules that are compiled go to standard error.
bool FinderSource::find(std::string_view module, std::vector<std::uint8_t>* beam, std::string* path) {
  const FoundCode code = finder_.find(module);
  std::fputs(code.messages.c_str(), stderr);
  return hand_over(code, beam, path);
}

bool FinderSource::find_substitute(std::string_view module, std::vector<std::uint8_t>* beam,
                                   std::string* path) {
  return hand_over(CodeFinder::find_substitute(module), beam, path);
}

bool FinderSource::in_memory(std::string_view module) const {
  return finder_.locate(module).starts_with(kEmbeddedLibrary);
}

bool FinderSource::compile(std::string_view name, std::string_view text, std::vector<std::uint8_t>* beam,
                           std::string* messages) {
  compile::CompileOptions options;
  options.warnings = false;
  compile::CompileResult result = compile::compile_source(std::string(name), std::string(text), options);
  *messages = std::move(result.messages);
  *beam = std::move(result.beam);
  return result.ok;
}

std::optional<Beginning> begin_script(const Options& o, CodeFinder& finder, Heap& heap) {
  Program program;
  use_error_handler_for(modules_that_need_kernel());
  if (!(o.script.empty() ? load_expressions(o, finder, &program) : load_program(o, finder, &program)))
    return {};
  return Beginning{atoms::init, atoms::boot, boot_arguments(heap, o, program)};
}

int print_loaded(const FoundCode& code) {
  init_literal_area();
  register_bifs(kBifRows, kBifRowCount);
  LoadResult loaded =
      load_module(kNonValue, code.begin, static_cast<std::size_t>(code.end - code.begin), code.path);
  if (!loaded.module) return fail(loaded.message);
  std::fputs(disassemble(*loaded.module).c_str(), stdout);
  return 0;
}

namespace {

/// The value of system_info(ets_limit): +e, else the environment, and at least erl's minimum.
unsigned ets_limit(unsigned given) {
  constexpr unsigned kLeast = 8192;
  const char* const named = given ? nullptr : std::getenv("ERL_MAX_ETS_TABLES");
  if (named) given = static_cast<unsigned>(std::clamp(std::atoi(named), 0, INT_MAX));
  return std::max(given, kLeast);
}

}  // namespace

int boot(const Options& o, CodeSource& source, const Begin& begin) {
  keep_memory_in_reserve();
  set_atom_limit(o.atom_limit);
  init_literal_area();
  break_ignored = o.break_key == BreakKey::kIgnored;
  lines_left_out = o.no_lines;
  listings_wanted = o.listings;
  flush_timeout_of_all_ms = o.halt_flush_timeout_ms;
  debugger_supported.store(o.debugger, std::memory_order_relaxed);
  line_breakpoints_on.store(o.line_breakpoints, std::memory_order_relaxed);
  coverage_mode.store(o.coverage, std::memory_order_relaxed);
  system_mode = o.mode;
  use_time_warp(o.mode.time_warp);
  system_mode.ets_limit = ets_limit(o.mode.ets_limit);
  if (o.outstanding_requests) set_outstanding_requests_limit(o.outstanding_requests);
  spawn_defaults.min_heap_words = o.min_heap_words ? next_heap_size(o.min_heap_words) : 0;
  spawn_defaults.max_heap = {
      .words = o.max_heap_words,
      .kill = o.max_heap_kill,
      .log = o.max_heap_log,
      .binaries = o.max_heap_binaries,
  };
  spawn_defaults.off_heap_messages = o.off_heap_messages;
  spawn_defaults.async_dist = o.async_dist;
  gc_modes.collect_always = o.gc_stress;
  gc_modes.verify = o.verify_heap;
  set_hot_after(o.hot_after);
  if (!write_for_perf(o.perf_files, o.perf_folder))
    fmt::print(stderr, "vmrun: +JPperf: cannot write what perf reads to {}: {}\n", o.perf_folder,
               std::strerror(errno));
  if (!enable_compiler(o.compiled, o.exits_seed, o.hot_megabytes) && o.compiled == Compiled::kAll)
    fmt::print(stderr, "vmrun: +jit: no machine code can be made here\n");
  process_table.init(o.process_limit);
  tell_debuggers();
  port_table.init(o.port_limit);
  dist::busy_limit.store(Word{o.dist_busy_kilobytes} << 10, std::memory_order_relaxed);
  node_delay_ns.store(o.forgets_nodes ? Word{o.node_delay_seconds} * 1'000'000'000 : kKeepNodes,
                      std::memory_order_relaxed);
  register_bifs(kBifRows, kBifRowCount);
  report_crashing_drivers();
  ::signal(SIGPIPE,
           // A process that writes to a pipe without a reader gets EPIPE. Programs behind ports
           // start with all signals at their defaults.
           SIG_IGN);
  set_async_threads(o.async_threads);
  MemoryTrimmer::set_delay(o.return_after_ms);
  register_linked_in_drivers();
  sockets::register_natives();
  preloaded::register_natives();
  erltrace::register_natives();
  register_dyntrace_natives();
  set_code_source(&source);

  Heap heap;
  const std::optional<Beginning> beginning = begin(heap);
  if (!beginning) return kBrokenScriptStatus;

  if (!o.reads_topology) leave_places_unknown();
  define_places(o.topology);
  if (o.bind_type != BindType::kUnbound) set_bind_type(o.bind_type);
  SchedulerOptions scheduling;
  scheduling.schedulers = o.schedulers;
  scheduling.online = o.schedulers_online ? o.schedulers_online : processors().usable();
  scheduling.short_slices = o.hot_after != 0;
  scheduling.slice = o.yield_all ? 1 : o.slice ? static_cast<std::int32_t>(o.slice) : kSliceReductions;
  scheduling.random = o.random_sched;
  scheduling.seed = o.random_seed;
  scheduling.run = interpret;

  // Not more than there are schedulers, and not more online than schedulers are online.
  set_dirty_schedulers(
      std::min(o.dirty_cpu_schedulers, o.schedulers ? o.schedulers : processors().configured),
      std::min(o.dirty_cpu_schedulers_online, scheduling.online), o.dirty_io_schedulers);

  attach::start_under_trace();
  const Term init =
      spawn_process(nullptr, beginning->module, beginning->function, beginning->arguments, SpawnOptions{});
  extra_of(*process_table.find(init)).system_process = true;
  if (beginning->leads_itself) {
    process_table.find(init)->group_leader = init;
    set_boot_group_leader(init);
  }
  for (const Term module : beginning->companions) {
    const Term companion = spawn_process(nullptr, module, intern_atom("start"), Term::nil(), SpawnOptions{});
    extra_of(*process_table.find(companion)).system_process = true;
    note_system_process(companion);
    if (atom_text(module) == "erts_literal_area_collector") set_literal_collector(companion);
  }
  // Before the program can run: handlers that it sets itself must stay, and it may be sent signals
  // as soon as it has announced itself.
  take_signals(o.break_key);
  start_schedulers(scheduling);
  if (o.return_after_ms) return_free_memory();  // from here on this thread only waits
  const HaltRequest end = wait_for_halt(handle_signal);
  leave_signals();
  if (end.dump) {
    const std::string slogan = with_crlf(end.slogan + "\n");
    if (!end.awaited && write(STDERR_FILENO, slogan.data(), slogan.size()) < 0) {
    }  // nowhere left to complain
    dump::write_crash_dump(end.slogan);
    if (end.awaited) dump_ended();
  }
  if (end.flush) {
    if (end.flush_timeout_ms >= 0) end_after(std::chrono::milliseconds(end.flush_timeout_ms));
    tell_libraries_of_halt();
    if (port_table.count()) {
      hold_processes();
      close_all_ports();
    }
    stop_async_pool();
    wait_for_delaying_calls();
  }
  attach::close_endpoint();
  terminal::end_editing();
  std::fflush(nullptr);
  // Other threads may still run, so nothing that they use is destroyed.
  write_coverage();
  write_pair_counts();
  ::_exit(end.status);
}

}  // namespace vmrun::cli

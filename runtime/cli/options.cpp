// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/options.hpp"

#include <algorithm>
#include <charconv>
#include <climits>
#include <functional>
#include <initializer_list>
#include <optional>
#include <type_traits>
#include <utility>

#include <unistd.h>

#include <fmt/core.h>

#include "runtime/cli/args_file.hpp"
#include "runtime/cli/flag_hint.hpp"
#include "runtime/cli/without_script.hpp"
#include "vm/base/processors.hpp"
#include "vm/base/topology_text.hpp"
#include "vm/nif/dirty.hpp"
#include "vm/port/async.hpp"
#include "vm/sched/scheduler.hpp"

namespace vmrun::cli {
namespace {

using Error = std::optional<std::string>;
using Words = std::vector<std::string>;

struct Flag {
  const char* name;
  const char* value;  // the value's name in --help; nullptr: the flag takes none
  const char* help;   // nullptr: accepted, not shown
  std::function<Error(Options&, const std::string&)> apply;
};

Error number(const std::string& text, unsigned long long low, unsigned long long high,
             unsigned long long* out) {
  const char* end = text.data() + text.size();
  auto [rest, code] = std::from_chars(text.data(), end, *out);
  if (code == std::errc{} && rest == end && *out >= low && *out <= high) return {};
  return fmt::format("expected a number from {} to {}, got '{}'", low, high, text);
}

template <class T>
auto set_number(T Options::*field, unsigned long long low, unsigned long long high) {
  return [=](Options& o, const std::string& text) -> Error {
    unsigned long long n = 0;
    if (Error e = number(text, low, high, &n)) return e;
    o.*field = static_cast<T>(n);
    return {};
  };
}

/// A choice of words, each with the value that it sets.
template <class T, class Owner>
auto set_choice(T Owner::*field, std::initializer_list<std::pair<const char*, T>> choices) {
  return [field, choices = std::vector(choices)](Options& o, const std::string& text) -> Error {
    Owner* owner;
    if constexpr (std::is_same_v<Owner, Options>) owner = &o;
    else owner = &o.mode;
    std::string names;
    for (const auto& [name, value] : choices) {
      if (text == name) {
        owner->*field = value;
        return {};
      }
      names += (names.empty() ? "" : ", ") + std::string(name);
    }
    return fmt::format("expected one of {}, got '{}'", names, text);
  };
}
template <class Owner>
auto set_boolean(bool Owner::*field) {
  return set_choice(field, {{"true", true}, {"false", false}});
}

auto set_flag(bool Options::*field) {
  return [=](Options& o, const std::string&) -> Error {
    o.*field = true;
    return {};
  };
}

auto add_before(std::vector<std::string> Options::*list) {
  return [=](Options& o, const std::string& text) -> Error {
    (o.*list).insert((o.*list).begin(), text);
    return {};
  };
}
auto add_to(std::vector<std::string> Options::*list) {
  return [=](Options& o, const std::string& text) -> Error {
    (o.*list).push_back(text);
    return {};
  };
}

auto set_text(std::string Options::*field) {
  return [=](Options& o, const std::string& text) -> Error {
    o.*field = text;
    return {};
  };
}

auto set_action(Action action) {
  return [=](Options& o, const std::string&) -> Error {
    o.action = action;
    return {};
  };
}

auto set_unreadable_names(const char* what) {
  return [what](Options& o, const std::string&) -> Error {
    o.mode.unreadable_names = what;
    return {};
  };
}

auto set_break_key(BreakKey key) {
  return [=](Options& o, const std::string&) -> Error {
    o.break_key = key;
    return {};
  };
}

auto nothing() {
  return [](Options&, const std::string&) -> Error { return {}; };
}

/// Reads a number of schedulers. 0 is the default; a negative number counts down from `most`
/// processors.
Error read_schedulers(const std::string& text, unsigned most, unsigned high, unsigned* out) {
  unsigned long long n = 0;
  const bool counts_down = text.starts_with('-');
  if (Error e = number(text.substr(counts_down), 0, high, &n)) return e;
  if (counts_down && n >= most) return fmt::format("there are {} processors, not more than {}", most, n);
  *out = counts_down ? most - static_cast<unsigned>(n) : static_cast<unsigned>(n);
  return {};
}

/// Reads `N`, `N:Online` or `:Online`, like erl.
auto set_number_and_online(unsigned Options::*field, unsigned Options::*online, unsigned high) {
  return [=](Options& o, const std::string& text) -> Error {
    const std::size_t colon = text.find(':');
    if (colon != 0)
      if (Error e = read_schedulers(text.substr(0, colon), processors().configured, high, &(o.*field)))
        return e;
    if (colon == std::string::npos) return {};
    return read_schedulers(text.substr(colon + 1), processors().usable(), o.*field ? o.*field : high,
                           &(o.*online));
  };
}

/// Reads `P`, `P:Online` or `:Online`.
Error set_percentages(Options& o, const std::string& text) {
  constexpr unsigned kMost = 1'000'000;
  o.schedulers_percent = o.schedulers_online_percent = {};
  const std::size_t colon = text.find(':');
  unsigned long long n = 0;
  if (colon != 0) {
    if (Error e = number(text.substr(0, colon), 0, kMost, &n)) return e;
    o.schedulers_percent = static_cast<unsigned>(n);
  }
  if (colon == std::string::npos) return {};
  if (Error e = number(text.substr(colon + 1), 0, kMost, &n)) return e;
  o.schedulers_online_percent = static_cast<unsigned>(n);
  return {};
}

/// Percentages are of what +S says, before or after +SP, or of the processors. A single one up to
/// 100 counts for those online too.
Error take_percentages(Options& o) {
  const auto share = [](unsigned of, unsigned percent) {
    return std::clamp(of * percent / 100, 1u, kMaxSchedulers);
  };
  if (!o.schedulers_percent && !o.schedulers_online_percent) return {};
  const unsigned online_percent =
      o.schedulers_online_percent ? *o.schedulers_online_percent : std::min(*o.schedulers_percent, 100u);
  o.schedulers_online =
      share(o.schedulers_online ? o.schedulers_online : processors().usable(), online_percent);
  if (!o.schedulers) o.schedulers = processors().configured;
  if (o.schedulers_percent) o.schedulers = share(o.schedulers, *o.schedulers_percent);
  if (o.schedulers_online_percent && o.schedulers_online > o.schedulers)
    return fmt::format("+SP: expected at most {} schedulers online, got {}", o.schedulers,
                       o.schedulers_online);
  o.schedulers_online = std::min(o.schedulers_online, o.schedulers);
  return {};
}

Error set_topology(Options& o, const std::string& text) {
  auto read = read_topology(text);
  if (const auto* error = std::get_if<const char*>(&read))
    return fmt::format("bad cpu topology '{}': {}", text, *error);
  o.topology = std::get<std::vector<ProcessorPlace>>(std::move(read));
  o.reads_topology = false;
  return {};
}

std::string bind_error(const std::string& letters, const char* why) {
  return fmt::format("setting scheduler bind type '{}' failed: {}", letters, why);
}

Error add_bind_request(Options& o, const std::string& letters, bool is_needed) {
  const std::optional<BindType> type = bind_type_of_letters(letters);
  if (!type) return bind_error(letters, "invalid type");
  o.bind_requests.push_back({*type, letters, is_needed, !o.topology.empty()});
  return {};
}

/// A request knows the topology that comes before it, or without any that of the system.
Error take_bind_requests(Options& o) {
  for (const BindRequest& request : o.bind_requests) {
    const bool is_known = o.reads_topology ? !detected_places().empty() : request.knows_topology;
    if (is_known || request.type == BindType::kUnbound) o.bind_type = request.type;
    else if (request.is_needed) return bind_error(request.letters, "no cpu topology available");
  }
  return {};
}

Error set_node_delay(Options& o, const std::string& text) {
  o.forgets_nodes = text != "infinity";
  return o.forgets_nodes ? number(text, 0, 100'000'000, &o.node_delay_seconds) : Error{};
}

Error set_random_sched(Options& o, const std::string& text) {
  o.random_sched = true;
  return number(text, 0, ~0ull, &o.random_seed);
}

const std::vector<Flag>& flags() {
  static const std::vector<Flag> table = {
      {"-core", nullptr, "print the module as Core, the compiler's first form, instead of running it",
       set_action(Action::kPrintCore)},
      {"-ssa", nullptr, "print the module as blocks of single assignments, its second form",
       set_action(Action::kPrintSsa)},
      {"-S", nullptr, "print the generic assembly of the module instead of running it",
       set_action(Action::kPrintAssembly)},
      {"-loaded", nullptr, "print the machine's own instructions that the module becomes when it is loaded",
       set_action(Action::kPrintLoaded)},
      {"-l", nullptr, "list the static probes in this binary, with argument types",
       set_action(Action::kListProbes)},
      {"-pa", "DIR",
       "look for modules in DIR (.beam, .act, .erl) before the library; the last one given first",
       add_before(&Options::code_paths)},
      {"-pz", "DIR", "look for modules in DIR last; may be repeated", add_to(&Options::late_code_paths)},
      {"-otp", "DIR", "root of the Erlang/OTP that supplies the modules which the library lacks; or 'none'",
       set_text(&Options::otp_root)},
      {"-I", "DIR", "look for included files in DIR too", add_to(&Options::include_dirs)},
      {"-D", "NAME[=TERM]", "define a macro for the script and the modules compiled with it",
       add_to(&Options::defines)},
      {"-e", "EXPRESSIONS",
       "evaluate EXPRESSIONS instead of a script, then end; may be repeated (docs/running.md)",
       add_to(&Options::expressions)},
      {"-noinput", nullptr, "do not read standard input", set_flag(&Options::no_input)},
      {"-noshell", nullptr, nullptr, nothing()},
      {"+S", "N[:M]",
       "number of schedulers (default: one for each processor), M of them online (default: as many as "
       "processors may be used)",
       set_number_and_online(&Options::schedulers, &Options::schedulers_online, kMaxSchedulers)},
      {"+SP", "P[:Q]", nullptr, set_percentages},
      {"+sct", "TOPOLOGY", nullptr, set_topology},
      {"+sbt", "TYPE", nullptr,
       [](Options& o, const std::string& letters) { return add_bind_request(o, letters, true); }},
      {"+stbt", "TYPE", nullptr,
       [](Options& o, const std::string& letters) { return add_bind_request(o, letters, false); }},
      {"+ssrct", nullptr, nullptr,
       [](Options& o, const std::string&) -> Error {
         o.reads_topology = false;
         return {};
       }},
      {"+SDcpu", "N[:M]",
       "number of dirty schedulers for work that computes for long, M of them online (default: as many as "
       "schedulers, but no more than processors)",
       set_number_and_online(&Options::dirty_cpu_schedulers, &Options::dirty_cpu_schedulers_online,
                             kMaxDirtySchedulers)},
      {"+SDio", "N", "number of dirty schedulers for work that waits for I/O (default 10)",
       set_number(&Options::dirty_io_schedulers, 1, kMaxDirtySchedulers)},
      {"+A", "N", "number of async threads (default 8)",
       set_number(&Options::async_threads, 0, kMaxAsyncThreads)},
      {"+return-after", "MS",
       "idle milliseconds after which a thread returns free memory to the system; 0: never (default 200)",
       set_number(&Options::return_after_ms, 0, 86400000)},
      {"+P", "N", "limit of simultaneous processes (default 1048576, before OTP 27 262144)",
       set_number(&Options::process_limit, 1024, 134217727)},
      {"+Q", "N", "limit of simultaneous ports (default 65536)",
       set_number(&Options::port_limit, 1024, 134217727)},
      {"+zdbbl", "N", "kilobytes that may wait for another node; senders wait beyond that (default 1024)",
       set_number(&Options::dist_busy_kilobytes, 1, 2097151)},
      {"+zdntgc", "SECONDS",
       "how long a node stays known when nothing refers to it, or infinity (default 60)", set_node_delay},
      {"+t", "N", "limit of atoms (default 1048576)",
       set_number(&Options::atom_limit, kLeastAtomLimit, kMostAtomLimit)},
      {"+hms", "N", "words of a process's heap to start with (default 142)",
       set_number(&Options::min_heap_words, 1, UINT32_MAX)},
      {"+hmax", "N", "words that the heap of a process may have (default 0: no limit)",
       set_number(&Options::max_heap_words, 0, (1ull << 59) - 1)},
      {"+hmaxk", "true|false", "whether a process whose heap needs more is killed (default true)",
       set_boolean(&Options::max_heap_kill)},
      {"+hmaxel", "true|false", "whether that is reported (default true)",
       set_boolean(&Options::max_heap_log)},
      {"+hmaxib", "true|false", "whether binaries outside the heap count too (default false)",
       set_boolean(&Options::max_heap_binaries)},
      {"+hmqd", "on_heap|off_heap", "where the messages of a process lie, unless it chooses otherwise",
       set_choice(&Options::off_heap_messages, {{"on_heap", false}, {"off_heap", true}})},
      {"+pc", "latin1|unicode", "characters that ~p prints as they are (default latin1)",
       set_choice(&SystemMode::printable_range, {{"latin1", "latin1"}, {"unicode", "unicode"}})},
      {"+W", "w|i|e", "the level at which warnings are reported: warning, info, error (default w)",
       set_choice(&SystemMode::warning_map, {{"w", "warning"}, {"i", "info"}, {"e", "error"}})},
      {"+fnu", nullptr,
       "names of files are UTF-8; other names are left out (+fnui) or are an error (+fnue) (docs/otp.md)",
       set_unreadable_names("warning")},
      {"+fnuw", nullptr, nullptr, set_unreadable_names("warning")},
      {"+fnui", nullptr, nullptr, set_unreadable_names("ignore")},
      {"+fnue", nullptr, nullptr, set_unreadable_names("error")},
      {"+fna", nullptr, nullptr, set_unreadable_names("warning")},
      {"+fnaw", nullptr, nullptr, set_unreadable_names("warning")},
      {"+fnai", nullptr, nullptr, set_unreadable_names("ignore")},
      {"+fnae", nullptr, nullptr, set_unreadable_names("error")},
      {"+L", nullptr, "print stack traces without files and lines", set_flag(&Options::no_lines)},
      {"+spp", "true|false", "the option parallelism of ports that are opened without it (default false)",
       set_boolean(&SystemMode::port_parallelism)},
      {"+pad", "true|false",
       "whether processes go on after they have sent to a busy connection, unless they choose otherwise "
       "(default false)",
       set_boolean(&Options::async_dist)},
      {"+zosrl", "N",
       "limit of outstanding requests of a process that changes something for the whole system",
       set_number(&Options::outstanding_requests, 1, 134217727)},
      {"+zhft", "MS|infinity", "how long the flush of a halt may take (default infinity)",
       [](Options& o, const std::string& text) -> Error {
         unsigned long long ms = 0;
         if (text != "infinity")
           if (Error e = number(text, 0, INT_MAX, &ms)) return e;
         o.halt_flush_timeout_ms = text == "infinity" ? -1 : static_cast<int>(ms);
         return {};
       }},
      {"+c", "true|false", nullptr, set_boolean(&SystemMode::time_correction)},
      {"+C", "no_time_warp|single_time_warp|multi_time_warp",
       "whether Erlang system time follows when the clock is set: never, once, always (default "
       "multi_time_warp, "
       "before OTP 26 no_time_warp)",
       set_choice(&SystemMode::time_warp, {{"no_time_warp", TimeWarp::kNone},
                                           {"single_time_warp", TimeWarp::kSingle},
                                           {"multi_time_warp", TimeWarp::kMulti}})},
      {"+T", "N", nullptr,
       [](Options& o, const std::string& text) -> Error {
         unsigned long long level = 0;
         if (Error e = number(text, 0, 9, &level)) return e;
         o.mode.timing_level = static_cast<int>(level);
         return {};
       }},
      {"+e", "N", nullptr,
       [](Options& o, const std::string& text) -> Error {
         unsigned long long tables = 0;
         if (Error e = number(text, 1, 134217727, &tables)) return e;
         o.mode.ets_limit = static_cast<unsigned>(tables);
         return {};
       }},
      {"+B", nullptr,
       "the interrupt key ends the program, as with +Bd; otherwise it shows a menu (docs/running.md)",
       set_break_key(BreakKey::kEnds)},
      {"+Bd", nullptr, nullptr, set_break_key(BreakKey::kEnds)},
      {"+Bi", nullptr, "the interrupt key does nothing", set_break_key(BreakKey::kIgnored)},
      {"+Bc", nullptr, nullptr, set_break_key(BreakKey::kMenu)},
      {"+slice", "N", "stress: reductions a process may use before it is preempted (default 4000)",
       set_number(&Options::slice, 1, 1000000)},
      {"+yield-all", nullptr, "stress: give up the core at every call", set_flag(&Options::yield_all)},
      {"+random-sched", "SEED", "stress: pick runnable processes and slices at random", set_random_sched},
      {"+hot", "N",
       "make machine code of a function that has been seen N times at the end of a slice (default 1); 0: "
       "never",
       set_number(&Options::hot_after, 0, 255)},
      {"+hotmem", "MB",
       "at most so much memory for machine code (default 64); what has not been at work for long is given "
       "back",
       set_number(&Options::hot_megabytes, 1, kMostHotMegabytes)},
      {"+jit", "none|hot|all",
       "which functions the compiler makes machine code of: those that +hot chooses (default), all when they "
       "are loaded, or none",
       set_choice(&Options::compiled,
                  {{"none", Compiled::kNone}, {"hot", Compiled::kHot}, {"all", Compiled::kAll}})},
      {"+jit-exits", "SEED",
       "stress: code of vm/jit goes back to the interpreter at a third of the places where it may, at random",
       [](Options& o, const std::string& text) { return number(text, 1, ~0ull, &o.exits_seed); }},
      {"+JDdump", "true|false",
       "write the machine's own instructions of each loaded module to MODULE.asm, in the form of -loaded",
       [](Options& o, const std::string& text) -> Error {
         o.listings = text == "true";
         return {};
       }},
      {"+D", nullptr,
       "support a debugger (erl_debugger of OTP 28): modules compiled with +beam_debug_info take breakpoints "
       "on their lines",
       set_flag(&Options::debugger)},
      {"+Dibpl", "true|false", "whether they do from the start on (default true)",
       set_boolean(&Options::line_breakpoints)},
      {"+JPcover", "true|false|function|function_counters|line|line_counters",
       "what code counts that is loaded from the start on, see code:get_coverage/2 (default false; true: "
       "line_counters)",
       set_choice(&Options::coverage, {{"true", CoverageMode::kLineCounters},
                                       {"false", CoverageMode::kNone},
                                       {"function", CoverageMode::kFunction},
                                       {"function_counters", CoverageMode::kFunctionCounters},
                                       {"line", CoverageMode::kLine},
                                       {"line_counters", CoverageMode::kLineCounters}})},
      {"+JPperf", "true|map|dump|false",
       "write /tmp/perf-PID.map (map), /tmp/jit-PID.dump (dump) or both (true): then perf shows functions "
       "with machine code by name, and after `perf inject --jit` their lines",
       [](Options& o, const std::string& text) -> Error {
         o.perf_files = text == "true"   ? PerfFiles::kBoth
                        : text == "map"  ? PerfFiles::kMap
                        : text == "dump" ? PerfFiles::kDump
                                         : PerfFiles::kNone;
         return {};
       }},
      {"+JPperfdirectory", "FOLDER", "where +JPperf writes (default /tmp)", set_text(&Options::perf_folder)},
      {"+fail-alloc", "N", "stress: the N-th allocation of memory fails",
       set_number(&Options::fail_alloc, 1, ~0ull)},
      {"+gc-stress", nullptr, "stress: collect garbage at every allocation point",
       set_flag(&Options::gc_stress)},
      {"+verify-heap", nullptr, "check: walk heaps before and after every collection",
       set_flag(&Options::verify_heap)},
      {"-detached", nullptr, "run in the background, with /dev/null as standard files",
       set_flag(&Options::in_background)},
      {"--help", nullptr, "print this text", set_action(Action::kHelp)},
      {"-h", nullptr, nullptr, set_action(Action::kHelp)},
      {"+V", nullptr, nullptr, set_action(Action::kVersion)},
      {"-V", nullptr, nullptr, set_action(Action::kVersion)},
      {"--version", nullptr, "print the version", set_action(Action::kVersion)},
  };
  return table;
}

const Flag* find_flag(const std::string& name) {
  for (const Flag& f : flags())
    if (name == f.name) return &f;
  return nullptr;
}

std::string unknown_flag(const std::string& word) {
  std::vector<std::string_view> names{"-s", "-run", "-eval", "-user", "-env", "-extra", "-args_file"};
  for (const Flag& f : flags())
    if (f.help) names.emplace_back(f.name);
  for (const std::string_view name : kept_flag_names()) names.push_back(name);
  return fmt::format("unknown flag '{}'{}", word, hint_for_flag(word, names));
}

bool is_flag(const std::string& word) { return word.size() > 1 && (word[0] == '-' || word[0] == '+'); }

/// Without a script a flag of vmrun's own may have several values (-pa A B); it is applied once for
/// each.
Error parse_without_script(int argc, const char* const* argv, Options* o) {
  const auto own = [&](const std::string& name, const std::vector<std::string>& values, std::string* error) {
    const Flag* flag = find_flag(name);
    if (!flag) return false;
    if (flag->value && values.empty())
      *error = fmt::format("flag {} needs a value: {} {}", name, name, flag->value);
    const std::size_t times = flag->value ? values.size() : 1;
    for (std::size_t i = 0; i < times && error->empty(); ++i)
      if (Error e = flag->apply(*o, flag->value ? values[i] : "")) *error = fmt::format("{}: {}", name, *e);
    return true;
  };
  *o = Options{};
  std::string error = read_without_script(argc, argv, own, &o->kept_flags, &o->script_args);
  if (o->in_background) o->no_input = true;
  if (error.empty() && !o->expressions.empty()) error = "flag -e goes without -s, -run, -eval and -user";
  if (error.empty()) return {};
  return error;
}

std::variant<Options, UsageError> parse_words(int argc, const char* const* argv) {
  Options o;
  int i = 1;
  for (; i < argc; ++i) {
    std::string word = argv[i];
    if (word == "--") {
      ++i;
      break;
    }
    if (!is_flag(word)) break;
    if (word == "-extra" && !o.expressions.empty()) {
      ++i;
      break;
    }
    if (word[0] == '-' && !find_flag(word) && !is_kept_flag(argv[i]) && is_without_script(argc, argv, i)) {
      if (Error e = parse_without_script(argc, argv, &o)) return UsageError{*e};
      return o;
    }
    std::string missing;
    if (keep_flag(argc, argv, &i, &o.kept_flags, &missing)) {
      if (!missing.empty()) return UsageError{missing};
      continue;
    }
    const Flag* flag = find_flag(word);
    if (!flag) return UsageError{unknown_flag(word)};
    std::string value;
    if (flag->value) {
      if (++i >= argc)
        return UsageError{fmt::format("flag {} needs a value: {} {}", word, word, flag->value)};
      value = argv[i];
    }
    if (Error e = flag->apply(o, value)) return UsageError{fmt::format("{}: {}", word, *e)};
  }
  if (i < argc && o.expressions.empty()) o.script = argv[i++];
  o.script_args.assign(argv + i, argv + argc);
  const bool needs_script =
      o.action == Action::kRun || (o.action >= Action::kPrintCore && o.action <= Action::kPrintLoaded);
  if (o.action != Action::kRun && !o.expressions.empty()) return UsageError{"flag -e is for running only"};
  if (needs_script && o.script.empty() && o.expressions.empty()) return UsageError{"no script given"};
  return o;
}

/// Replaces each `-args_file FILE` in front of the script, or, if there is no script, in front of
/// -extra.
Error spread_own_args_files(Words* words) {
  if (std::ranges::find(*words, "-args_file") == words->end()) return {};
  constexpr unsigned kMostFiles = 1000;
  unsigned files = 0;
  for (std::size_t i = 0; i < words->size(); ++i) {
    const std::string word = (*words)[i];
    if (word == "-extra" || word == "--") return {};
    if (word != "-args_file") {
      std::vector<const char*> argv{""};
      for (const std::string& w : *words) argv.push_back(w.c_str());
      const int argc = static_cast<int>(argv.size());
      int at = static_cast<int>(i) + 1;
      if (is_without_script(argc, argv.data(), at)) continue;
      if (!is_flag(word)) return {};
      std::vector<KeptFlag> kept;
      std::string missing;
      if (keep_flag(argc, argv.data(), &at, &kept, &missing)) i = static_cast<std::size_t>(at) - 1;
      else if (const Flag* flag = find_flag(word); flag && flag->value) ++i;
      continue;
    }
    if (i + 1 == words->size()) return "flag -args_file needs a file";
    if (++files > kMostFiles)
      return fmt::format("-args_file {}: files name each other without an end", (*words)[i + 1]);
    Words in_file;
    if (Error e = read_args_file((*words)[i + 1], Backslash::kKeepsQuote, &in_file)) return e;
    const auto place = words->erase(words->begin() + static_cast<std::ptrdiff_t>(i),
                                    words->begin() + static_cast<std::ptrdiff_t>(i) + 2);
    words->insert(place, in_file.begin(), in_file.end());
    --i;  // next: the first word of the file
  }
  return {};
}

/// Checks early that the files can be read; they are read when the program first uses applications.
Error check_config_files(const Options& o) {
  for (const KeptFlag& flag : o.kept_flags) {
    if (flag.name != "config") continue;
    if (flag.values.empty()) return "flag -config needs a value: -config FILE";
    for (const std::string& name : flag.values)
      if (::access((name.ends_with(".config") ? name : name + ".config").c_str(), R_OK) != 0)
        return fmt::format("-config: cannot read '{}'", name.ends_with(".config") ? name : name + ".config");
  }
  return {};
}

}  // namespace

std::variant<Options, UsageError> parse_machine_flags(const std::vector<std::string>& words) {
  Options o;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Flag* flag = find_flag(words[i]);
    if (!flag) return UsageError{fmt::format("unknown flag '{}'", words[i])};
    const std::string value = flag->value && i + 1 < words.size() ? words[++i] : "";
    if (Error e = flag->apply(o, value)) return UsageError{fmt::format("{}: {}", flag->name, *e)};
  }
  if (Error e = take_percentages(o)) return UsageError{*e};
  if (Error e = take_bind_requests(o)) return UsageError{*e};
  return o;
}

std::optional<bool> own_flag_takes_value(const std::string& flag) {
  const Flag* f = flag.starts_with('+') ? find_flag(flag) : nullptr;
  if (!f) return {};
  return f->value != nullptr;
}

std::variant<Options, UsageError> parse_options(int argc, const char* const* argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (Error e = spread_own_args_files(&words)) return UsageError{*e};
  std::vector<const char*> spread{argv[0]};
  for (const std::string& word : words) spread.push_back(word.c_str());
  auto parsed = parse_words(static_cast<int>(spread.size()), spread.data());
  if (auto* o = std::get_if<Options>(&parsed)) {
    if (Error e = check_config_files(*o)) return UsageError{*e};
    if (Error e = take_bind_requests(*o)) return UsageError{*e};
  }
  return parsed;
}

std::string help_text() {
  std::string text =
      "usage: vmrun [FLAGS] SCRIPT [ARGS…]\n"
      "       vmrun [FLAGS] -e EXPRESSIONS… [ARGS…]\n"
      "       vmrun [FLAGS] -s|-run|-eval|-user …\n\n"
      "Compiles and runs main/1 (or main/0) of an Erlang-syntax script (.act, .erl) or a compiled module "
      "(.beam).\n"
      "Exit status: N after halt(N); 0 after a normal end; 1 after an uncaught error in main, after an exit "
      "of main that is not normal, or when the script does not compile; 2 after a usage error.\n\n"
      "flags:\n";
  for (const Flag& f : flags())
    if (f.help)
      text += fmt::format("  {:<20} {}\n", f.value ? fmt::format("{} {}", f.name, f.value) : f.name, f.help);
  text += kept_flags_help();
  text +=
      "\nwithout a script (docs/running.md, \"Without a script\"); the system runs until it is told to "
      "stop:\n"
      "  -s M [F [ATOM…]]     call M:F(), or M:F([ATOM…]); without F call M:start()\n"
      "  -run M [F [TEXT…]]   do the same with strings\n"
      "  -eval EXPRESSIONS    evaluate EXPRESSIONS\n"
      "  -user M              M:start() provides the process user; -user peer: for peer:start of another "
      "node\n"
      "  -env NAME VALUE      set a variable of the environment\n"
      "  -extra ARGS…         arguments of the program, up to the end of the line\n";
  text += "\n  -args_file FILE      read words from FILE in this place; # begins a comment\n";
  text += "\nTo watch a program: vmtrace top (see docs/watching.md).\n";
  return text;
}

}  // namespace vmrun::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "runtime/bif/system_mode.hpp"
#include "runtime/cli/kept_flags.hpp"
#include "runtime/cli/os_signals.hpp"
#include "vm/base/bind_order.hpp"
#include "vm/base/processors.hpp"
#include "vm/base/release.hpp"
#include "vm/code/module.hpp"
#include "vm/hot/heating.hpp"
#include "vm/hot/perf.hpp"
#include "vm/term/atom.hpp"

/// vmrun's command line. Flags follow `erl` where one exists; everything after the script belongs
/// to the script. The flag table in options.cpp is the one list: parsing, --help and the errors
/// come from it.
namespace vmrun::cli {

enum class Action { kRun, kListProbes, kPrintCore, kPrintSsa, kPrintAssembly, kPrintLoaded, kHelp, kVersion };

/// +sbt, or +stbt, which asks for an attempt only.
struct BindRequest {
  BindType type;
  std::string letters;
  bool is_needed, knows_topology;  // +sct came before it
};

struct Options {
  Action action = Action::kRun;
  std::string script;
  std::vector<std::string> script_args;
  std::vector<std::string> expressions;      // -e: instead of a script
  std::vector<std::string> code_paths;       // -pa, searched in this order: the last one given is first
  std::vector<std::string> late_code_paths;  // -pz, searched last
  std::string otp_root;                      // -otp; empty: search the usual places, "none": no OTP
  std::vector<std::string> include_dirs;     // -I
  std::vector<std::string> defines;          // -D NAME[=VALUE]
  unsigned schedulers = 0;                   // +S; 0: one for each core
  unsigned schedulers_online = 0;            // +S N:Online; 0: all
  // +SP Percent:Online, of the above; nothing: all of it
  std::optional<unsigned> schedulers_percent, schedulers_online_percent;
  bool reads_topology = true;                // +ssrct, +sct: false
  std::vector<ProcessorPlace> topology;      // +sct
  std::vector<BindRequest> bind_requests;    // +sbt, +stbt
  BindType bind_type = BindType::kUnbound;   // what has come of them
  unsigned async_threads = 8;                // +A
  unsigned return_after_ms = 200;            // +return-after
  unsigned dirty_cpu_schedulers = 0;         // +SDcpu; 0: as many as schedulers
  unsigned dirty_cpu_schedulers_online = 0;  // +SDcpu N:Online; 0: as many as schedulers are online
  unsigned dirty_io_schedulers = 10;         // +SDio
  unsigned process_limit = default_process_limit(release_number);  // +P
  unsigned port_limit = 65536;                                     // +Q
  unsigned dist_busy_kilobytes = 1024;                             // +zdbbl
  bool forgets_nodes = true;                                       // false with infinity
  unsigned long long node_delay_seconds = 60;
  unsigned atom_limit = kDefaultAtomLimit;      // +t
  unsigned min_heap_words = 0;                  // +hms; 0: the default
  unsigned long long max_heap_words = 0;        // +hmax; 0: no limit
  bool max_heap_kill = true;                    // +hmaxk
  bool max_heap_log = true;                     // +hmaxel
  bool max_heap_binaries = false;               // +hmaxib
  bool off_heap_messages = false;               // +hmqd
  bool async_dist = false;                      // +pad
  unsigned outstanding_requests = 0;            // +zosrl; 0: OTP's limit
  int halt_flush_timeout_ms = -1;               // +zhft; negative: none
  bool no_lines = false;                        // +L
  bool debugger = false;                        // +D
  bool line_breakpoints = true;                 // +Dibpl
  CoverageMode coverage = CoverageMode::kNone;  // +JPcover
  bool listings = false;                        // +JDdump
  SystemMode mode;                              // +pc, +W, +spp, +c, +T, +e
  BreakKey break_key = BreakKey::kMenu;         // +B
  std::vector<KeptFlag> kept_flags;             // for the library
  bool in_background = false;                   // -detached
  bool no_input = false;                        // -noinput: standard input is not read
  // For stress tests and checking.
  bool gc_stress = false;
  unsigned hot_after = kHotAfter;
  unsigned hot_megabytes = kUsualHotMegabytes;
  Compiled compiled = Compiled::kHot;
  unsigned long long exits_seed = 0;  // +jit-exits; 0: none
  PerfFiles perf_files = PerfFiles::kNone;
  std::string perf_folder = "/tmp";  // +JPperfdirectory
  bool verify_heap = false;
  bool yield_all = false;
  unsigned slice = 0;                 // +slice N reductions; 0: 4000
  unsigned long long fail_alloc = 0;  // +fail-alloc: the number of the allocation that fails; 0: none
  bool random_sched = false;
  unsigned long long random_seed = 0;
};

/// A usage error as a sentence.
struct UsageError {
  std::string message;
};

std::variant<Options, UsageError> parse_options(int argc, const char* const* argv);
std::string help_text();

/// Parses flags alone, which come from another command line (erl_command.hpp).
std::variant<Options, UsageError> parse_machine_flags(const std::vector<std::string>& words);
/// Whether the machine's flag, which begins with `+`, takes the next word as its value. Returns
/// nothing for an unknown flag.
std::optional<bool> own_flag_takes_value(const std::string& flag);

}  // namespace vmrun::cli

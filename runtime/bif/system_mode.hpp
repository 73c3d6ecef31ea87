// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "vm/base/release.hpp"
#include "vm/base/time_offset.hpp"
#include "vm/term/term.hpp"

/// What the machine remembers about how it was started, above all as the emulator of OTP's own
/// system (runtime/cli/system.hpp). Written before the first process runs; only read afterwards.
namespace vmrun {

/// Adds a module to erlang:pre_loaded().
void note_preloaded(Term module);
/// Adds a process that belongs to the machine and lasts as long as it.
void note_system_process(Term pid);
/// +Bi: the interrupt key does nothing.
inline bool break_ignored = false;

/// What erl's flags set and built-in functions report.
struct SystemMode {
  const char* printable_range = "latin1";    // +pc
  const char* warning_map = "warning";       // +W
  const char* unreadable_names = "warning";  // +fn: what happens to a file whose name is not UTF-8
  bool port_parallelism = false;             // +spp
  bool time_correction = true;               // +c; has no effect on time here
  TimeWarp time_warp = default_time_warp(release_number);  // +C
  int timing_level = -1;                                   // +T; -1: not given. No level has an effect
  unsigned ets_limit = 0;  // +e, ERL_MAX_ETS_TABLES; only memory limits tables here
};
inline SystemMode system_mode;

/// system_info(emu_args): the program and its arguments.
inline std::vector<std::string> emulator_words;

/// +zosrl: sets system_flag(outstanding_system_requests_limit, N).
void set_outstanding_requests_limit(unsigned n);

}  // namespace vmrun

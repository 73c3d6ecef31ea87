#pragma once

#include <string>
#include <vector>

#include "vm/base/time_offset.hpp"
#include "vm/term/term.hpp"

/// What the machine remembers of how it was started, in the first place as the emulator of OTP's
/// own system (runtime/cli/system.hpp). Written before the first process, then only read.
namespace vmrun {

/// One more module of erlang:pre_loaded().
void note_preloaded(Term module);
/// One more process that the machine keeps for itself: it lasts as long as the machine.
void note_system_process(Term pid);
/// +Bi: the key that interrupts does nothing.
inline bool break_ignored = false;

/// What erl's flags set and built-in functions tell.
struct SystemMode {
  const char* printable_range = "latin1";    // +pc
  const char* warning_map = "warning";       // +W
  const char* unreadable_names = "warning";  // +fn: what becomes of a file whose name is no UTF-8
  bool port_parallelism = false;             // +spp
  bool time_correction = true;               // +c; time runs here as it does without
  TimeWarp time_warp = TimeWarp::kNone;      // +C
  int timing_level = -1;                     // +T; -1: none, and no level has an effect
  unsigned ets_limit = 0;                    // +e, ERL_MAX_ETS_TABLES; memory alone limits them
};
inline SystemMode system_mode;

/// system_info(emu_args): the program, and its words.
inline std::vector<std::string> emulator_words;

/// +zosrl: what system_flag(outstanding_system_requests_limit, N) sets.
void set_outstanding_requests_limit(unsigned n);

}  // namespace vmrun

#pragma once

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

}  // namespace vmrun

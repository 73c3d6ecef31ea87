#pragma once

#include "vm/term/term.hpp"

/// What the machine remembers of how it was started as the emulator of OTP's own system
/// (runtime/cli/system.hpp). Written before the first process, then only read.
namespace vmrun {

/// One more module of erlang:pre_loaded().
void note_preloaded(Term module);

}  // namespace vmrun

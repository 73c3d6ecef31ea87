#pragma once

#include <string_view>

/// The crash dump: a file with the state of the machine, in the form of Erlang/OTP's (erts, "How to
/// Interpret the Erlang Crash Dumps"). Its name is what ERL_CRASH_DUMP says, or erl_crash.dump;
/// ERL_CRASH_DUMP_SECONDS is how long it may take (0: none is written; so it is too when heart
/// watches the machine and nothing is said), ERL_CRASH_DUMP_BYTES how large it may become. Not for
/// a scheduler.
namespace vmrun::dump {

class StoppedMachine;

void write_crash_dump(std::string_view slogan);  // stops the machine for it
void write_crash_dump(std::string_view slogan, const StoppedMachine& stopped);

}  // namespace vmrun::dump

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

/// The crash dump: a file with the state of the machine, in the format of Erlang/OTP's (erts, "How
/// to Interpret the Erlang Crash Dumps"). ERL_CRASH_DUMP gives its name (default erl_crash.dump),
/// ERL_CRASH_DUMP_BYTES its largest size, and ERL_CRASH_DUMP_SECONDS the time that writing may
/// take. With 0 seconds no dump is written; this is the default when heart watches the machine.
/// Must not be called on a scheduler.
namespace vmrun::dump {

class StoppedMachine;

void write_crash_dump(std::string_view slogan);  // stops the machine for it
void write_crash_dump(std::string_view slogan, const StoppedMachine& stopped);

}  // namespace vmrun::dump

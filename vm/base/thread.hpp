// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <thread>

/// The machine's own threads. gdb, top -H and a tracer's `comm` show their names. These are those
/// of Erlang/OTP's threads, cut to the fifteen characters that Linux keeps.
namespace vmrun {

/// Runs body in a new thread. Throws std::system_error when the system refuses a thread.
std::thread start_thread(std::string name, std::function<void()> body);

/// As start_thread, for a thread that the machine cannot do without. When the system refuses it,
/// the machine reports that and ends.
std::thread start_needed_thread(std::string name, std::function<void()> body);

}  // namespace vmrun

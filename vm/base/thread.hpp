#pragma once

#include <functional>
#include <string>
#include <thread>

/// The machine's own threads. Their names are what gdb, top -H and a tracer's `comm` show: those of
/// Erlang/OTP's, cut to the fifteen characters Linux keeps.
namespace vmrun {

/// Runs body in a new thread. Throws std::system_error when there is none to be had.
std::thread start_thread(std::string name, std::function<void()> body);

/// The same for a thread the machine cannot do without: when there is none to be had it says so and
/// ends.
std::thread start_needed_thread(std::string name, std::function<void()> body);

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the machine does with a signal of the operating system.
namespace vmrun {

enum class SignalAction {
  kDefault,  // what the operating system does
  kIgnore,
  kHandle  // announce_signal (halt.hpp)
};

/// Sets what a signal does. Returns false when the operating system refuses, as it does for
/// SIGSTOP. Any thread.
bool set_signal_action(int number, SignalAction action);

/// Converts "sigterm" and the other names that os:set_signal/2 takes. Returns 0 and nullptr for all
/// others.
int signal_number(const char* name);
const char* signal_name(int number);

}  // namespace vmrun

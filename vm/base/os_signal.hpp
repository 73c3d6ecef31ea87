#pragma once

/// What the machine does with a signal of the operating system.
namespace vmrun {

enum class SignalAction {
  kDefault,  // what the operating system does
  kIgnore,
  kHandle  // announce_signal (halt.hpp)
};

/// Any thread. False when the operating system refuses, as it does for SIGSTOP.
bool set_signal_action(int number, SignalAction action);

/// "sigterm" and the others that os:set_signal/2 takes; 0 and nullptr for those it does not.
int signal_number(const char* name);
const char* signal_name(int number);

}  // namespace vmrun

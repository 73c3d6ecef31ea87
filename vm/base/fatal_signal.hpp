// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A signal that ends the VM (a bad address, abort, …). The parts of the machine that run foreign
/// code first say on standard error whose code it was, and a crash dump is written as far as the
/// other threads can write it. Then the VM dies as it would have.
namespace vmrun {

struct FatalSignal {
  int number;
  /// The thread ran out of stack: the bad address is just beyond the stack pointer.
  bool stack_overflow;
  /// Returns "crashed with signal SEGV", with " (stack overflow in native code)" where that is so.
  const char* text(char* buffer, unsigned long bytes) const;
};

/// Registers a report, which is called in the thread that got the signal, after those registered
/// before. It may do only what a signal handler may, and returns whether it has written something.
/// It runs on the thread's SignalStack if there is one. The first call installs the handlers,
/// except for signals for which a sanitizer has one that reports more. At most four reports. Any
/// thread.
void on_fatal_signal(bool (*report)(const FatalSignal& signal));

}  // namespace vmrun

#pragma once

/// A signal that ends the VM (a bad address, abort, …): whoever ran foreign code says whose it was
/// on standard error, and a crash dump is written as far as the other threads can write it, before
/// the VM dies as it would have.
namespace vmrun {

struct FatalSignal {
  int number;
  /// It ran out of stack: the bad address is just beyond the stack pointer.
  bool stack_overflow;
  /// "crashed with signal SEGV", with " (stack overflow in native code)" where that is so.
  const char* text(char* buffer, unsigned long bytes) const;
};

/// report is called in the thread that got the signal, after those that were given before; it may
/// do only what a handler may, and tells whether it has said something. It runs on the thread's
/// SignalStack if there is one. The first call installs the handlers, except where somebody (a
/// sanitizer) already has one that tells more. At most four reports. Any thread.
void on_fatal_signal(bool (*report)(const FatalSignal& signal));

}  // namespace vmrun

#pragma once

#include <cstddef>

/// A stack of its own for the handlers of fatal signals in one thread: the thread's may be what has
/// run out. Each thread of the machine has one while it lives; threads of native code do not.
namespace vmrun {

class SignalStack {
 public:
  /// Of the calling thread, in which it must be destroyed too.
  SignalStack();
  ~SignalStack();
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  void* memory_ = nullptr;
};

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

/// A separate stack for the handlers of fatal signals in one thread, because the thread's own stack
/// may be exhausted. Each thread of the machine has one while it lives; threads of native code do
/// not.
namespace vmrun {

class SignalStack {
 public:
  /// Makes the stack of the calling thread, which must also destroy it.
  SignalStack();
  ~SignalStack();
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  void* memory_ = nullptr;
};

}  // namespace vmrun

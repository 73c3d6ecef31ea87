// SPDX-License-Identifier: Apache-2.0
#include "vm/base/signal_stack.hpp"

#include <signal.h>
#include <sys/mman.h>

namespace vmrun {
namespace {

constexpr std::size_t kStackBytes = 64 * 1024;  // a report unwinds the stack, which needs some

}  // namespace

// Pages that no handler touches take no memory. A thread works without such a stack too.
SignalStack::SignalStack() {
  stack_t before{};
  if (sigaltstack(nullptr, &before) == 0 && !(before.ss_flags & SS_DISABLE)) return;  // a sanitizer's
  void* memory = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return;
  stack_t stack{};
  stack.ss_sp = memory;
  stack.ss_size = kStackBytes;
  if (sigaltstack(&stack, nullptr) == 0) memory_ = memory;
  else munmap(memory, kStackBytes);
}

SignalStack::~SignalStack() {
  if (!memory_) return;
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
  munmap(memory_, kStackBytes);
}

}  // namespace vmrun

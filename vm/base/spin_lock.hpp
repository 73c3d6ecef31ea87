// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

/// A lock for a few instructions' worth of work. It is almost free while no other thread wants it.
/// Any thread; not recursive. It is never held across anything that may block, allocate much or run
/// a process.
namespace vmrun {

inline void cpu_relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

class SpinLock {
 public:
  void lock() {
    while (held_.exchange(true, std::memory_order_acquire)) wait();
  }
  bool try_lock() { return !held_.exchange(true, std::memory_order_acquire); }
  void unlock() { held_.store(false, std::memory_order_release); }

 private:
  void wait();  // spins, then lets other threads have the core

  std::atomic<bool> held_{false};
};

}  // namespace vmrun

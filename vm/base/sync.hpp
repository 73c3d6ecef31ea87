// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "vm/base/spin_lock.hpp"

/// The primitives of this folder's concurrent classes (inbox, parker, owner lock, epochs): atomics,
/// fences, futexes. The classes take them as a template parameter, so that a test runs the same
/// code with atomics of its own and tries every order of events (test/unit/base/explorer.hpp).
namespace vmrun {

/// False where the kernel has no membarrier. Then the light side of an asymmetric fence is a full
/// fence.
extern const bool has_membarrier;

struct ThreadSync {
  template <class T>
  using Atomic = std::atomic<T>;

  static void relax() { cpu_relax(); }
  static void fence() { std::atomic_thread_fence(std::memory_order_seq_cst); }

  /// An asymmetric pair of fences. They work as if both were full ones, but the light side costs
  /// nothing (the compiler keeps the order) and the heavy side interrupts every running thread
  /// (membarrier(2)).
  static void light_fence() {
    if (has_membarrier) [[likely]]
      std::atomic_signal_fence(std::memory_order_seq_cst);
    else fence();
  }
  static void heavy_fence();

  /// Sleeps while the word has this value, until it is woken or the time is up (-1: never). May
  /// return spuriously.
  static void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t value, std::int64_t timeout_ns);
  static void futex_wake(std::atomic<std::uint32_t>& word);  // wakes one sleeper
  static void futex_wake_all(std::atomic<std::uint32_t>& word);
};

}  // namespace vmrun

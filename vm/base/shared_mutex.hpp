// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "vm/base/sync.hpp"

/// A lock that many threads may hold to read, or one to write. It suits work that mostly takes less
/// than a microsecond and now and then longer (a table). Taking it while it is free, and giving it
/// back, is one operation on one word. A thread that does not get it spins for some microseconds
/// before the kernel puts it to sleep, because a wake-up takes longer than most of what it waits
/// for. Once a thread sleeps, no new reader gets in. Any thread; not recursive.
namespace vmrun {

template <class Sync, int kLooks>
class BasicSharedMutex {
 public:
  void lock() {
    std::uint32_t state = 0;
    if (!take(state, kWriter)) [[unlikely]]
      wait_to_write();
  }
  void unlock() {
    if (state_.exchange(0, std::memory_order_release) & kSleepers) [[unlikely]]
      Sync::futex_wake_all(state_);
  }

  void lock_shared() {
    std::uint32_t state = state_.load(std::memory_order_relaxed);
    if (!lets_readers_in(state) || !take(state, state + 1)) [[unlikely]]
      wait_to_read();
  }
  void unlock_shared() {
    std::uint32_t left = state_.fetch_sub(1, std::memory_order_release) - 1;
    // Fails when a writer comes first, which will wake the sleepers itself.
    if (left == kSleepers && take(left, 0)) [[unlikely]]
      Sync::futex_wake_all(state_);
  }

 private:
  // The lower bits count readers.
  static constexpr std::uint32_t kWriter = 1u << 31, kSleepers = 1u << 30;

  static bool lets_readers_in(std::uint32_t state) { return state < kSleepers; }
  static bool lets_writer_in(std::uint32_t state) { return (state & ~kSleepers) == 0; }

  bool take(std::uint32_t& state, std::uint32_t wanted) {
    return state_.compare_exchange_strong(state, wanted, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }

  [[gnu::cold, gnu::noinline]] void wait_to_write() {
    wait([this](std::uint32_t state) {
      while (lets_writer_in(state))
        if (take(state, state | kWriter)) return true;
      return false;
    });
  }
  [[gnu::cold, gnu::noinline]] void wait_to_read() {
    wait([this](std::uint32_t state) {
      while (lets_readers_in(state))
        if (take(state, state + 1)) return true;
      return false;
    });
  }

  template <class Attempt>
  void wait(Attempt&& attempt) {
    for (;;) {
      for (int looks = 0; looks < kLooks; ++looks) {
        if (attempt(state_.load(std::memory_order_relaxed))) return;
        Sync::relax();
      }
      // The holder sees the bit kSleepers when it gives the lock back.
      std::uint32_t state = state_.load(std::memory_order_relaxed);
      const bool held = (state & ~kSleepers) != 0;
      if (held && ((state & kSleepers) || take(state, state | kSleepers)))
        Sync::futex_wait(state_, state | kSleepers, -1);
      // The last reader is about to wake all sleepers. This does it instead, as that reader may not
      // run just now.
      if (state == kSleepers && take(state, 0)) Sync::futex_wake_all(state_);
    }
  }

  typename Sync::template Atomic<std::uint32_t> state_{0};
};

using SharedMutex = BasicSharedMutex<ThreadSync, 200>;

}  // namespace vmrun

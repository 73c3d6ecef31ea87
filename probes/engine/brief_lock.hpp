// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>

/// Locks with a bounded wait. A thread that fires must never wait for long, even when the holder of
/// a lock has lost its core. A lock is held only while a value is copied.
namespace vmrun::d {

/// Calls try_lock() again and again, for about a millisecond. Returns false when another thread
/// held the lock all the time.
template <class TryLock>
[[nodiscard, gnu::noinline]] bool lock_later(TryLock&& try_lock) {
  for (int turn = 0; turn < 64; ++turn) {
    for (int i = 0; i < 128; ++i) {
      if (try_lock()) return true;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
    sched_yield();
  }
  return false;
}

class BriefLock {
 public:
  /// Returns false when another thread held the lock for too long.
  [[nodiscard]] bool lock() {
    if (!held_.exchange(true, std::memory_order_acquire)) [[likely]]
      return true;
    return lock_later([this] {
      return !held_.load(std::memory_order_relaxed) && !held_.exchange(true, std::memory_order_acquire);
    });
  }
  void unlock() { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};

/// A chain whose head is its lock too. The word holds the number of the first entry, and its
/// highest bit is set while a thread reads or changes the chain. Thousands of chains have thousands
/// of locks in this way, so a holder that lost its core delays only the threads that want the same
/// chain.
class LockedChain {
 public:
  explicit LockedChain(std::atomic<std::uint32_t>& head) : head_(head) {
    const auto try_lock = [this] {
      first = head_.load(std::memory_order_relaxed);
      return (first & kHeld) == 0 &&
             head_.compare_exchange_strong(first, first | kHeld, std::memory_order_acquire,
                                           std::memory_order_relaxed);
    };
    held_ = try_lock() || lock_later(try_lock);
  }
  ~LockedChain() {
    if (held_) head_.store(first, std::memory_order_release);
  }
  LockedChain(const LockedChain&) = delete;
  LockedChain& operator=(const LockedChain&) = delete;

  /// False when another thread held the lock for too long.
  explicit operator bool() const { return held_; }

  std::uint32_t first = 0;  // the caller may change it; 0: the chain is empty

 private:
  static constexpr std::uint32_t kHeld = 1u << 31;
  std::atomic<std::uint32_t>& head_;
  bool held_;
};

}  // namespace vmrun::d

#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>

/// Locks that are given up on: who fires must never wait for long, also when the holder lost its
/// core. Held for copying a value, not more.
namespace vmrun::d {

/// try_lock() again and again, for about a millisecond. False: held for too long by somebody else.
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
  /// False: held for too long by somebody else.
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

/// A chain whose head is its lock too: the word holds the number of the first entry, and the
/// highest bit while somebody reads or changes the chain. Thousands of chains have thousands of
/// locks in this way: a holder that lost its core is in nobody's way but those who want the same.
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

  /// False: held for too long by somebody else.
  explicit operator bool() const { return held_; }

  std::uint32_t first = 0;  // the caller's to change; 0: none

 private:
  static constexpr std::uint32_t kHeld = 1u << 31;
  std::atomic<std::uint32_t>& head_;
  bool held_;
};

}  // namespace vmrun::d

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/base/sync.hpp"

/// A lock that one thread, the owner, takes all the time and others hardly ever. The owner pays two
/// plain stores and a load of a cache line of its own; the others pay a membarrier. (Dice, Huang,
/// Yang: "Asymmetric Dekker Synchronization", 2001.) It is held for a few instructions only and is
/// not recursive.
namespace vmrun {

template <class Sync>
class BasicOwnerLock {
 public:
  /// Called by the owner only.
  void lock() {
    if (!try_lock()) [[unlikely]]
      wait();
  }
  /// As lock, but returns false when another thread is inside. A caller that gets false may do
  /// other things first, and then calls wait, which takes the lock.
  [[nodiscard]] bool try_lock() {
    owner_inside_.store(true, std::memory_order_relaxed);
    // The light fence pairs with the heavy one in try_lock_by_other: either this load sees the
    // other thread, or that thread sees this one.
    Sync::light_fence();
    return !other_inside_.load(std::memory_order_acquire);
  }
  [[gnu::cold, gnu::noinline]] void wait() {
    do {
      owner_inside_.store(false, std::memory_order_release);
      while (other_inside_.load(std::memory_order_acquire)) Sync::relax();
      owner_inside_.store(true, std::memory_order_relaxed);
      Sync::light_fence();
    } while (other_inside_.load(std::memory_order_acquire));
  }
  void unlock() { owner_inside_.store(false, std::memory_order_release); }

  /// Called by any other thread. Returns false when the owner, or another thread, is inside: that
  /// thread is about to leave, and a thread that wanted to help the owner need not.
  [[nodiscard]] bool try_lock_by_other() {
    if (other_inside_.exchange(true, std::memory_order_acquire)) return false;
    Sync::heavy_fence();
    if (!owner_inside_.load(std::memory_order_acquire)) return true;
    unlock_by_other();
    return false;
  }
  void unlock_by_other() { other_inside_.store(false, std::memory_order_release); }

 private:
  typename Sync::template Atomic<bool> owner_inside_{false}, other_inside_{false};
};

using OwnerLock = BasicOwnerLock<ThreadSync>;

}  // namespace vmrun

#pragma once

#include "vm/base/sync.hpp"

/// A lock that one thread, the owner, takes all the time and others hardly ever: for the owner it
/// costs two plain stores and a load of a cache line of its own, for the others a membarrier.
/// (Dice, Huang, Yang: "Asymmetric Dekker Synchronization", 2001.) Held for a few instructions
/// only. Not recursive.
namespace vmrun {

template <class Sync>
class BasicOwnerLock {
 public:
  /// Owner only.
  void lock() {
    if (!try_lock()) [[unlikely]]
      wait();
  }
  /// The same for a caller who does more than wait when another one is inside, and then calls
  /// wait, which leaves it locked.
  [[nodiscard]] bool try_lock() {
    owner_inside_.store(true, std::memory_order_relaxed);
    // Uneven against try_lock_by_other: either this load sees the other one, or that one sees us.
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

  /// Any other thread. False when the owner, or another one, is inside: they are about to leave,
  /// and who wanted to help the owner need not.
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

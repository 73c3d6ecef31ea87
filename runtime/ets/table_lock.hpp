// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "runtime/ets/store.hpp"
#include "vm/base/shared_mutex.hpp"

/// The lock of a table. A table that many processes use at the same time ({write_concurrency, _} or
/// {read_concurrency, true}) also has stripes: a thread that needs one key takes only the stripe of
/// its hash, and one that needs more takes all stripes. Any thread may use it. Only the holder of
/// the whole exclusive lock adds or removes stripes.
namespace vmrun::ets {

class TableLock {
 public:
  void lock(bool exclusive) {
    take(whole_, exclusive);
    if (Stripes* s = stripes_.load(std::memory_order_relaxed)) s->lock_all(exclusive);
  }
  void unlock(bool exclusive) {
    if (Stripes* s = stripes_.load(std::memory_order_relaxed)) s->unlock_all(exclusive);
    give_back(whole_, exclusive);
  }

  bool has_stripes() const { return stripes_.load(std::memory_order_relaxed) != nullptr; }
  /// Returns false when there are no stripes; then nothing has been locked.
  [[nodiscard]] bool lock_stripe(std::uint64_t hash, bool exclusive) {
    Stripes* s = stripes_.load(std::memory_order_acquire);
    if (!s) return false;
    take(s->of(hash), exclusive);
    // The stripes may have been removed meanwhile, and even added again. In the second case the
    // lock is valid, and the caller checks the table's identity afterwards.
    if (stripes_.load(std::memory_order_relaxed) == s) return true;
    give_back(s->of(hash), exclusive);
    return false;
  }
  void unlock_stripe(std::uint64_t hash, bool exclusive) {
    give_back(stripes_.load(std::memory_order_relaxed)->of(hash), exclusive);
  }

  /// The caller holds the whole lock exclusively, before and after. Stripes that go out of use are
  /// kept, because another thread may be about to try one.
  void use_stripes(bool wanted) {
    if (wanted == has_stripes()) return;
    if (!wanted) {
      stripes_.store(nullptr, std::memory_order_relaxed);
      made_->unlock_all(true);
      return;
    }
    if (!made_) made_ = std::make_unique<Stripes>();
    made_->lock_all(true);
    stripes_.store(made_.get(), std::memory_order_release);
  }
  Word stripe_words() const { return has_stripes() ? sizeof(Stripes) / sizeof(Word) : 0; }

 private:
  struct Stripes {
    struct alignas(64) Stripe {
      SharedMutex mutex;
    } each[kStripes];

    SharedMutex& of(std::uint64_t hash) { return each[hash % kStripes].mutex; }
    void lock_all(bool exclusive) {
      for (Stripe& s : each) take(s.mutex, exclusive);
    }
    void unlock_all(bool exclusive) {
      for (Stripe& s : each) give_back(s.mutex, exclusive);
    }
  };

  static void take(SharedMutex& m, bool exclusive) { exclusive ? m.lock() : m.lock_shared(); }
  static void give_back(SharedMutex& m, bool exclusive) { exclusive ? m.unlock() : m.unlock_shared(); }

  SharedMutex whole_;
  std::unique_ptr<Stripes> made_;
  std::atomic<Stripes*> stripes_{nullptr};  // equal to made_.get(), or nullptr
};

}  // namespace vmrun::ets

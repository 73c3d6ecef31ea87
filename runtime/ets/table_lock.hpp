#pragma once

#include <memory>

#include "runtime/ets/store.hpp"
#include "vm/base/shared_mutex.hpp"

/// The lock of a table. A table that many use at the same time ({write_concurrency, _} or
/// {read_concurrency, true}) has stripes besides: who wants one key takes the stripe of its hash
/// alone, who wants more takes all of them. Belongs to a table; any thread. Whether there are
/// stripes is changed by who holds all of it exclusively.
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
  /// False: there are no stripes, and nothing was locked.
  [[nodiscard]] bool lock_stripe(std::uint64_t hash, bool exclusive) {
    Stripes* s = stripes_.load(std::memory_order_acquire);
    if (!s) return false;
    take(s->of(hash), exclusive);
    // They may have gone, and even come again: then what is known of the table is known anew.
    if (stripes_.load(std::memory_order_relaxed) == s) return true;
    give_back(s->of(hash), exclusive);
    return false;
  }
  void unlock_stripe(std::uint64_t hash, bool exclusive) {
    give_back(stripes_.load(std::memory_order_relaxed)->of(hash), exclusive);
  }

  /// The caller holds all of it exclusively, and does so afterwards. Stripes that are not used any
  /// more are kept, for somebody may still be about to try one.
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
  std::atomic<Stripes*> stripes_{nullptr};  // made_, or nullptr
};

}  // namespace vmrun::ets

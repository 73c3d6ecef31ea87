// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/base/epoch.hpp"
#include "vm/base/small_limits.hpp"

/// Things that are unlinked and wait until no thread can read them any more (epoch.hpp). A list
/// belongs to one thread, or is used under a lock. The things are stamped in batches, because a
/// check of all threads reads the cache lines that these write.
namespace vmrun {

template <class T, T* T::*next, Word (*passed_by)(Word) = epoch_passed>
class Retired {
 public:
  /// Adds a thing that no new lookup can find.
  void retire(T& it) {
    it.*next = open_;
    open_ = &it;
    ++open_count_;
  }
  bool batch_is_full() const { return open_count_ >= kBatch; }
  bool empty() const { return !open_ && !count_; }

  /// Stamps the things that have no stamp yet. When there is no room for another batch the open one
  /// just grows.
  void stamp() {
    if (!open_ || count_ == kBatches) return;
    batches_[(first_ + count_++) % kBatches] = {open_, epoch_stamp()};
    open_ = nullptr;
    open_count_ = 0;
  }
  /// Calls free for each thing that no thread can hold any more.
  template <class F>
  void reclaim(F&& free) {
    if (!count_) return;
    const Word passed = passed_by(batches_[first_].stamp);
    for (; count_ && batches_[first_].stamp <= passed; first_ = (first_ + 1) % kBatches, --count_) {
      T* it = batches_[first_].things;
      while (it) {
        T* following = it->*next;
        free(*it);
        it = following;
      }
    }
  }

 private:
  static constexpr unsigned kBatch = usual_or_small<unsigned>(32, 1),
                            kBatches = usual_or_small<unsigned>(64, 2);
  struct Batch {
    T* things;
    Word stamp;
  };
  T* open_ = nullptr;
  unsigned open_count_ = 0;
  Batch batches_[kBatches];  // a ring, oldest first
  unsigned first_ = 0, count_ = 0;
};

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "vm/base/sync.hpp"

/// Lets any thread hand things to one owner: a lock-free stack that is always taken as a whole, so
/// there is no ABA problem and nothing to reclaim (Treiber, "Systems Programming: Coping with
/// Parallelism", 1986, without its pop). Things are linked through one of their members. Taking
/// reverses the stack, so the oldest comes first. Things from one pusher keep their order; the
/// order between pushers is unspecified.
namespace vmrun {

/// The word holds only the address of the newest thing.
struct NoTags {
  static constexpr std::uint64_t kAddressMask = ~std::uint64_t{7};
  template <class T>
  static std::uint64_t after_push(std::uint64_t, const T&) {
    return 0;
  }
};

/// Tags: bits that lie in the one word beside the newest thing's address, outside of kAddressMask
/// and other than kClosed. after_push(word, thing) returns the bits that hold after a push. Things
/// are aligned to eight bytes.
template <class T, T* T::*next, class Tags = NoTags, class Sync = ThreadSync>
class Inbox {
 public:
  using Word = std::uint64_t;
  static constexpr Word kClosed = 2;

  Inbox() = default;
  Inbox(const Inbox&) = delete;

  /// Pushes a thing, and returns the word as it was before. If kClosed was in it nothing was
  /// pushed, and the thing is still the caller's. Any thread. Sequentially consistent: what the
  /// pusher reads afterwards it reads after the push (parker.hpp relies on it). PushTags replaces
  /// Tags where the caller knows more about the thing.
  template <class PushTags = Tags>
  Word push(T& it) {
    Word old = word_.load(std::memory_order_relaxed);
    Word wanted;
    do {
      if (old & kClosed) return old;
      it.*next = address(old);
      wanted = reinterpret_cast<Word>(&it) | PushTags::after_push(old, it);
    } while (!word_.compare_exchange_weak(old, wanted, std::memory_order_seq_cst, std::memory_order_relaxed));
    return old;
  }
  bool try_push(T& it) { return !(push(it) & kClosed); }

  /// Takes everything that is there, oldest first; nothing from a closed inbox. Acquire: what
  /// pushers wrote before they pushed is seen. Any thread may take, and owns what it has taken.
  T* take() {
    Word old = word_.load(std::memory_order_relaxed);
    do {
      if (!address(old)) return nullptr;
    } while (!word_.compare_exchange_weak(old, 0, std::memory_order_acquire, std::memory_order_relaxed));
    return reversed(address(old));
  }
  /// Closes the inbox: pushes fail from here on. Returns what was there, oldest first.
  T* close() { return reversed(address(word_.exchange(kClosed, std::memory_order_seq_cst))); }

  /// Sequentially consistent, for a thread that is about to sleep.
  bool has_mail() const { return address(word_.load(std::memory_order_seq_cst)); }
  bool is_closed() const { return word_.load(std::memory_order_acquire) & kClosed; }
  /// A relaxed check; its answer may be late.
  bool seems_empty() const { return !address(word_.load(std::memory_order_relaxed)); }

  /// For an owner that uses tags. Any atomic operation on the word is allowed as long as no things
  /// are lost.
  typename Sync::template Atomic<Word>& word() { return word_; }
  const typename Sync::template Atomic<Word>& word() const { return word_; }
  static T* address(Word word) { return reinterpret_cast<T*>(word & Tags::kAddressMask); }
  static T* reversed(T* newest) {
    return reversed(newest, [](T&) {});
  }
  /// each is called for every thing, newest first.
  template <class F>
  static T* reversed(T* newest, F&& each) {
    T* oldest = nullptr;
    while (newest) {
      each(*newest);
      T* older = newest->*next;
      newest->*next = oldest;
      oldest = newest;
      newest = older;
    }
    return oldest;
  }

 private:
  typename Sync::template Atomic<Word> word_{0};
};

}  // namespace vmrun

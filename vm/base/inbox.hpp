#pragma once

#include <cstdint>

#include "vm/base/sync.hpp"

/// What any thread hands to one owner: a lock-free stack that is only ever taken whole, so there is
/// no ABA problem and nothing to reclaim (Treiber, "Systems Programming: Coping with Parallelism",
/// 1986, without its pop). Things are linked through one of their members. Taking reverses the
/// stack: oldest first. Things of one pusher keep their order; between pushers there is none.
namespace vmrun {

/// Nothing but the things.
struct NoTags {
  static constexpr std::uint64_t kAddressMask = ~std::uint64_t{7};
  template <class T>
  static std::uint64_t after_push(std::uint64_t, const T&) {
    return 0;
  }
};

/// Tags: what goes along with the newest thing's address in the one word: bits outside of its
/// kAddressMask, but kClosed. after_push(word, thing) gives those that hold after a push. Things
/// are aligned to eight bytes.
template <class T, T* T::*next, class Tags = NoTags, class Sync = ThreadSync>
class Inbox {
 public:
  using Word = std::uint64_t;
  static constexpr Word kClosed = 2;

  Inbox() = default;
  Inbox(const Inbox&) = delete;

  /// Any thread. Returns the word as it was before; when kClosed was in it nothing was pushed, and
  /// the thing is still the caller's. Sequentially consistent: what the pusher reads afterwards it
  /// reads after the push (parker.hpp relies on it). PushTags: in place of Tags where more is known
  /// of the thing.
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

  /// Everything that is there, oldest first; nothing of a closed one. Acquire: what pushers wrote
  /// before they pushed is seen. Any thread may take; what it has taken is its own.
  T* take() {
    Word old = word_.load(std::memory_order_relaxed);
    do {
      if (!address(old)) return nullptr;
    } while (!word_.compare_exchange_weak(old, 0, std::memory_order_acquire, std::memory_order_relaxed));
    return reversed(address(old));
  }
  /// Pushes fail from here on. What was there, oldest first.
  T* close() { return reversed(address(word_.exchange(kClosed, std::memory_order_seq_cst))); }

  /// Sequentially consistent, for who is about to sleep.
  bool has_mail() const { return address(word_.load(std::memory_order_seq_cst)); }
  bool is_closed() const { return word_.load(std::memory_order_acquire) & kClosed; }
  /// A glance that costs nothing; may be late.
  bool seems_empty() const { return !address(word_.load(std::memory_order_relaxed)); }

  /// Of an owner who keeps tags. The word may be used as any atomic as long as things are not lost.
  typename Sync::template Atomic<Word>& word() { return word_; }
  const typename Sync::template Atomic<Word>& word() const { return word_; }
  static T* address(Word word) { return reinterpret_cast<T*>(word & Tags::kAddressMask); }
  static T* reversed(T* newest) {
    return reversed(newest, [](T&) {});
  }
  /// each: called for every one of them, newest first.
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

#pragma once

#include <cstdint>

#include "vm/base/sync.hpp"

/// Tells any thread whether the things of one kind that were pushed into an Inbox have been
/// handled, so that nobody has to ask the owner. A bit of the inbox's word says that such a thing
/// lies there; a flag, which the owner sets before it takes the word and clears when it has handled
/// what it took, stands for those that have left the word.
///
/// A thread that has pushed a thing and finds neither knows that it has been handled: its look at
/// the word reads its own push, or what came after it. If the bit is gone, the owner has exchanged
/// the word. The look is acquire and the exchange release, so the flag that was set before is seen,
/// unless it has been cleared since, which is after the handling. What others pushed between the
/// two keeps that order, as pushes are read-modify-writes.
///
/// Where nothing of the kind is there the owner pays a compare-and-swap in place of an exchange.
/// Both are releases: a thread that sees the word taken sees what the owner wrote before.
namespace vmrun {

template <class Sync>
class BasicUnderWay {
 public:
  using Word = std::uint64_t;
  template <class T>
  using Atomic = typename Sync::template Atomic<T>;

  /// The owner: takes what the word holds, which is 0 from then on. kind: the bit.
  Word take(Atomic<Word>& word, Word kind) {
    if (Word old; take_without(word, kind, &old)) return old;
    handling_.store(true, std::memory_order_relaxed);
    return word.exchange(0, std::memory_order_acq_rel);
  }
  /// The owner: the same if nothing of the kind is there. False: nothing has been taken, as some is
  /// there or comes.
  [[nodiscard]] bool take_without(Atomic<Word>& word, Word kind, Word* taken) {
    *taken = word.load(std::memory_order_relaxed);
    return !(*taken & kind) &&
           word.compare_exchange_strong(*taken, 0, std::memory_order_acq_rel, std::memory_order_relaxed);
  }
  /// The owner: whether it may have taken things that it has not said to be handled.
  bool handling() const { return handling_.load(std::memory_order_relaxed); }
  /// The owner: what it has taken has had its effect, and whoever looks may know.
  void handled() { handling_.store(false, std::memory_order_release); }

  /// Any thread: all that it had pushed has been handled, and whatever else was in the word.
  bool none(const Atomic<Word>& word, Word kind) const {
    return !(word.load(std::memory_order_acquire) & kind) && !handling_.load(std::memory_order_acquire);
  }

 private:
  Atomic<bool> handling_{false};
};

using UnderWay = BasicUnderWay<ThreadSync>;

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "vm/base/sync.hpp"

/// Tells any thread whether the things of one kind that were pushed into an Inbox have been
/// handled, without asking the owner. A bit of the inbox's word says that such a thing lies there.
/// A flag stands for the things that have left the word: the owner sets it before it takes the
/// word, and clears it when it has handled what it took.
///
/// A thread that has pushed a thing, and then finds neither the bit nor the flag, knows that the
/// thing has been handled. Its load of the word reads its own push or a later value. If the bit is
/// gone, the owner has exchanged the word. The load is acquire and the exchange is release, so the
/// thread sees that the flag was set before. If the flag is clear, it was cleared since, which
/// happens after the handling. Pushes by others in between keep that order, because they are
/// read-modify-writes.
///
/// When there is nothing of the kind, the owner pays a compare-and-swap instead of an exchange.
/// Both are releases: a thread that sees the word taken sees what the owner wrote before.
namespace vmrun {

template <class Sync>
class BasicUnderWay {
 public:
  using Word = std::uint64_t;
  template <class T>
  using Atomic = typename Sync::template Atomic<T>;

  /// Takes what the word holds; the word is 0 from then on. kind: the bit. Called by the owner.
  Word take(Atomic<Word>& word, Word kind) {
    if (Word old; take_without(word, kind, &old)) return old;
    handling_.store(true, std::memory_order_relaxed);
    return word.exchange(0, std::memory_order_acq_rel);
  }
  /// As take, if nothing of the kind is there. Returns false, and takes nothing, if some is there
  /// or comes. Called by the owner.
  [[nodiscard]] bool take_without(Atomic<Word>& word, Word kind, Word* taken) {
    *taken = word.load(std::memory_order_relaxed);
    return !(*taken & kind) &&
           word.compare_exchange_strong(*taken, 0, std::memory_order_acq_rel, std::memory_order_relaxed);
  }
  /// Whether the owner may have taken things that it has not reported as handled. Called by the
  /// owner.
  bool handling() const { return handling_.load(std::memory_order_relaxed); }
  /// Reports that what was taken has had its effect; other threads may see it. Called by the owner.
  void handled() { handling_.store(false, std::memory_order_release); }

  /// Whether all that the calling thread has pushed has been handled, and whatever else was in the
  /// word. Any thread.
  bool none(const Atomic<Word>& word, Word kind) const {
    return !(word.load(std::memory_order_acquire) & kind) && !handling_.load(std::memory_order_acquire);
  }

 private:
  Atomic<bool> handling_{false};
};

using UnderWay = BasicUnderWay<ThreadSync>;

}  // namespace vmrun

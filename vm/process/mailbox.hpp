// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cassert>

#include "vm/base/inbox.hpp"
#include "vm/base/under_way.hpp"
#include "vm/heap/heap.hpp"

/// The inbox of one process: messages and signals, in one order per sender. Any thread may push;
/// only the process's own scheduler reads.
///
/// The outer queue is an Inbox, whose word holds
///
///   63            48 47                4  3   2   1   0
///   | messages there | newest fragment  |sig|not|clo|par|
///
/// - messages there: the length of the outer queue, so that it needs no other counter. These 16
///   bits stop at 65535; then the owner counts. (Addresses have 48 bits on x86-64 and arm64.)
/// - `sig`nals: not everything in the queue is a message.
/// - `not`ice: the owner was woken without a message (a timer).
/// - `clo`sed: the process has exited.
/// - `par`ked: the owner gave up the core. The thread that clears this bit must make the process
///   runnable, so a push learns that it ends a wait.
///
/// The inner queue is the owner's plain list, with a save position for selective receive.
namespace vmrun {

struct Process;

enum class SignalKind : std::uint32_t {
  kMessage = 0,
  kAliasMessage,       // message: {Ref, Message} or {Ref, Message, marks (kOwnMessage …)}
  kAliasExit,          // message: {Ref, {'EXIT', From, Reason}, marks (kOwnMessage …)}
  kExit,               // message: {'EXIT', From, Reason}; sent by exit/2
  kLinkExit,           // as kExit; dropped unless linked
  kLink,               // message: From
  kUnlink,             // message: From
  kMonitor,            // message: {From, Ref} or {From, Ref, Name}
  kDemonitor,          // message: Ref
  kDown,               // message: {'DOWN', Ref, process, Object, Reason}; dropped unless monitoring
  kGroupLeader,        // message: pid
  kRequest,            // message: {From, Id, Operation, Argument}: see request.hpp
  kReply,              // message: {Id, Result}
  kConnectionDrained,  // the connection that a sender waits for is no longer busy; no message
  kSpawnAnswer,        // message: see message/spawn_answer.cpp
  kUndecoded,          // a message from another node: see deferred_decoding.hpp, dist/message.cpp
  kUndecodable,    // bytes from another node that are not a term: see deferred_decoding.hpp, dist/message.cpp
  kArguments,      // message: the list of arguments of a process that has not started yet
  kWakeUp,         // a suspended process is to check what it waits for; no message
  kPinnedMessage,  // a message whose terms lie in the receiver's heap; inner queue only
};

/// What goes along with a message or exit signal to an alias.
inline constexpr unsigned kOwnMessage = 1, kPriorityMessage = 2;

enum class PushResult { kQueued, kWakeOwner, kClosed };

class Mailbox {
 public:
  Mailbox() = default;
  Mailbox(const Mailbox&) = delete;

  /// Appends a fragment and takes it over. With kClosed (the process has exited) the caller keeps
  /// it. Thread-safe.
  [[nodiscard]] PushResult push(Fragment* f);
  /// As push, for a fragment of kind kMessage.
  [[nodiscard]] PushResult push_message(Fragment* f);
  /// Wakes the owner without a message. Returns true when the caller must make the process
  /// runnable. Thread-safe.
  [[nodiscard]] bool notify();
  /// Returns the number of messages in the outer queue, a snapshot of at most 65535. Any thread.
  Word outer_count() const { return outer_.word().load(std::memory_order_relaxed) >> kCountShift; }
  /// Whether every signal that the calling thread, or a process that it runs, has pushed has been
  /// handled without ending the process. Messages are not signals here. under_way is the owner's.
  /// Any thread.
  bool signals_are_handled(const UnderWay& under_way) const {
    return under_way.none(outer_.word(), kSignals | kClosed);
  }
  /// Whether everything that was ever pushed has been handled and the owner waits. Any thread.
  bool is_parked() const { return outer_.word().load(std::memory_order_acquire) & kParked; }
  /// Makes the calling thread the owner of a process that waits and to which nothing has come, as a
  /// push that ends the wait would. Ownership ends with park(); if that returns false, the thread
  /// makes the process runnable. Any thread.
  [[nodiscard]] bool unpark();

  // Everything below is for the owner only.
  /// Gives up the core: from here on the process belongs to the thread that wakes it. Returns false
  /// when something has arrived meanwhile.
  [[nodiscard]] bool park();
  bool has_arrivals() const { return outer_.word().load(std::memory_order_relaxed) != 0; }
  /// Takes everything in the outer queue, oldest first. The messages in it are counted to the inner
  /// queue, so each must be linked. If under_way.handling() is true afterwards, there may be
  /// signals in it, and under_way.handled() must follow.
  Fragment* take_arrivals(UnderWay& under_way);
  /// Takes and links what is in the outer queue, if all of it is messages. Returns false when
  /// nothing has been taken.
  [[nodiscard]] bool take_messages(UnderWay& under_way);
  /// Returns the newest fragment that has arrived and has not been taken; older ones follow through
  /// `next`. For threads that read while the owner does not run.
  const Fragment* newest_arrival() const {
    return Outer::address(outer_.word().load(std::memory_order_acquire));
  }
  /// Refuses pushes from now on. Returns what was in the outer queue, oldest first.
  Fragment* close();
  void link(Fragment* f) {
    f->next = nullptr;
    *last = f;
    last = &f->next;
  }
  void append(Fragment* f) {
    link(f);
    set_inner_count(inner_count() + 1);
  }
  Word inner_count() const { return inner_count_.load(std::memory_order_relaxed) & ~kTaking; }
  void set_inner_count(Word n) { inner_count_.store(n, std::memory_order_relaxed); }
  bool is_closed() const { return outer_.word().load(std::memory_order_relaxed) & kClosed; }
  /// Returns the length, a snapshot: too low when more than 65535 have arrived since the owner last
  /// took them. Any thread.
  Word length() const { return inner_count() + outer_count(); }
  /// Returns how many messages there are, including at least those that the calling thread has
  /// pushed. Returns kUnknown when the owner is just taking some, or when there are too many to be
  /// counted here. Any thread.
  static constexpr Word kUnknown = ~Word{0};
  Word length_now() const;
  /// Returns the length, however large. Owner only.
  Word exact_length() const;
  bool unseen() const { return *save != nullptr; }

  /// Returns the part of an address that the word keeps, which must be all of it.
  static std::uintptr_t in_word(std::uintptr_t address) {
    return reinterpret_cast<std::uintptr_t>(Outer::address(address));
  }

  Fragment* first = nullptr;  // inner queue, oldest message
  Fragment** last = &first;   // where the next one is linked
  Fragment** save = &first;   // link that leads to the next message to be tested

 private:
  static constexpr Word kParked = 1, kClosed = 2, kNotice = 4, kSignals = 8;
  static constexpr int kCountShift = 48;
  static constexpr Word kTaking = Word{1} << 63;  // in the inner count: messages out of the word are missing
  struct Tags {
    static constexpr Word kAddressMask = ((Word{1} << kCountShift) - 1) & ~Word{15};
    static constexpr Word kCountMax = (Word{1} << 16) - 1;
    static Word after_push(Word old, const Fragment& f) {
      if (f.kind == static_cast<Word>(SignalKind::kMessage)) return after_message(old);
      return (old & kKept) | kSignals;
    }
    static Word after_message(Word old) {
      Word more;
      if (__builtin_add_overflow(old, Word{1} << kCountShift, &more)) [[unlikely]]
        more = old;
      return more & kKept;
    }
    static constexpr Word kKept = kCountMax << kCountShift | kNotice | kSignals;
  };
  struct MessageTags : Tags {
    static Word after_push(Word old, const Fragment&) { return after_message(old); }
  };
  static_assert(Tags::kAddressMask >> 47, "addresses of 48 bits, as arm64 has them");
  using Outer = Inbox<Fragment, &Fragment::next, Tags>;
  static_assert(Outer::kClosed == kClosed);

  /// Pairs with the release of taking: a thread that sees the word taken sees this.
  void begin_to_take(Word inner) { inner_count_.store(inner | kTaking, std::memory_order_relaxed); }

  /// before: the word as the push found it. Clearing kParked takes the process over; the push
  /// orders that after park().
  static PushResult result_of(Word before) {
    if (before & kClosed) return PushResult::kClosed;
    return before & kParked ? PushResult::kWakeOwner : PushResult::kQueued;
  }

  std::atomic<Word> inner_count_{0};  // written by the owner; others read it for the message-queued probe
  Outer outer_;
};

// Inline, because every message, or every slice, runs these functions.

inline PushResult Mailbox::push(Fragment* f) { return result_of(outer_.push(*f)); }
inline PushResult Mailbox::push_message(Fragment* f) {
  assert(f->kind == static_cast<Word>(SignalKind::kMessage));
  return result_of(outer_.push<MessageTags>(*f));
}

inline bool Mailbox::park() {
  Word expected = 0;
  // Release hands everything that the owner wrote to the thread that wakes the process.
  return outer_.word().compare_exchange_strong(expected, kParked, std::memory_order_release,
                                               std::memory_order_relaxed);
}

inline Fragment* Mailbox::take_arrivals(UnderWay& under_way) {
  // Acquire pairs with the push. Only the owner closes, so no closed bit can get lost here.
  Word messages = inner_count();
  begin_to_take(messages);
  Fragment* newest = Outer::address(under_way.take(outer_.word(), kSignals));
  Fragment* oldest = Outer::reversed(
      newest, [&](const Fragment& f) { messages += f.kind == static_cast<Word>(SignalKind::kMessage); });
  set_inner_count(messages);
  return oldest;
}

inline bool Mailbox::take_messages(UnderWay& under_way) {
  Word taken, messages = inner_count();
  begin_to_take(messages);
  const bool takes = under_way.take_without(outer_.word(), kSignals, &taken);
  Fragment* newest = takes ? Outer::address(taken) : nullptr;  // a notice has no fragment
  if (newest) [[likely]] {
    *last = Outer::reversed(newest, [&](const Fragment&) { ++messages; });
    last = &newest->next;
  }
  set_inner_count(messages);
  return takes;
}

}  // namespace vmrun

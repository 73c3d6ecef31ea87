// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "vm/base/allocate.hpp"
#include "vm/base/parker.hpp"

/// Work that several threads take, first come first served, and the sleep of those that find none.
/// Queue holds any number of T*, for several producers and consumers (boost::lockfree::queue). The
/// rules here are about sleep, and are tried in every order of events (test/unit/base):
///
/// * A thread that pushes first pushes and then looks for an idle worker, which it claims. A worker
///   first says that it is idle and then checks the queue. So one of them sees the other (Dekker's
///   rule, as in parker.hpp).
/// * A claim is for one piece of work. A worker that finds work by that second check, and is
///   claimed meanwhile, is claimed for another piece: it passes the claim on.
/// * A thread that finds no idle worker calls `more`, which may start another worker.
///
/// So no work waits while a worker is idle, or could be started.
namespace vmrun {

template <class T, class Queue, class Sync = ThreadSync>
class WorkQueue {
 public:
  /// A thread that takes work. The object belongs to that thread and lives as long as the queue.
  class alignas(64) Worker {
    friend WorkQueue;
    typename Sync::template Atomic<bool> idle{false};  // the thread that clears it has claimed the worker
    std::atomic<bool> awake{true};                     // a hint: it can be claimed without a system call
    BasicParker<Sync> parker;
    Worker* next = nullptr;

   public:
    /// Makes the worker check whether it can sleep on. Any thread.
    void wake() { (void)parker.wake(); }
  };

  /// arguments: for the queue's constructor.
  template <class... Arguments>
  explicit WorkQueue(Arguments&&... arguments) : queue_(std::forward<Arguments>(arguments)...) {}
  WorkQueue(const WorkQueue&) = delete;

  /// Called once for a worker, before its first take. Any thread.
  void join(Worker& w) {
    w.next = workers_.load(std::memory_order_relaxed);
    while (
        !workers_.compare_exchange_weak(w.next, &w, std::memory_order_release, std::memory_order_relaxed)) {}
  }

  /// Any thread. more(): see above.
  template <class More>
  void push(T& it, More&& more) {
    if (!queue_.push(&it)) out_of_memory("a queue of work", sizeof(T*));
    call(more);
  }

  /// Called by a worker. Returns the next piece of work, sooner or later. look(there) checks
  /// there() for a little while, and returns whether it became true. sleep(parker, there) sleeps
  /// until there().
  template <class Look, class Sleep, class More>
  T& take(Worker& self, Look&& look, Sleep&& sleep, More&& more) {
    for (;;) {
      if (T* it = pop()) return *it;
      self.idle.store(true, std::memory_order_seq_cst);
      Sync::fence();  // against the one in call
      if (T* it = pop()) {
        if (!claim(self)) call(more);
        return *it;
      }
      const auto claimed = [&] { return !self.idle.load(std::memory_order_seq_cst); };
      if (look(claimed)) continue;
      self.awake.store(false, std::memory_order_relaxed);
      sleep(self.parker, claimed);
      self.awake.store(true, std::memory_order_relaxed);
    }
  }

 private:
  T* pop() {
    T* it;
    return queue_.pop(it) ? it : nullptr;
  }

  bool claim(Worker& w) {
    return w.idle.load(std::memory_order_relaxed) && w.idle.exchange(false, std::memory_order_seq_cst);
  }

  /// There is work for one worker. Prefers one that is still awake.
  template <class More>
  void call(More&& more) {
    Sync::fence();  // between push and the look, against the one in take
    for (const bool awake : {true, false})
      for (Worker* w = workers_.load(std::memory_order_acquire); w; w = w->next)
        if (w->awake.load(std::memory_order_relaxed) == awake && claim(*w)) return (void)w->parker.wake();
    more();
  }

  Queue queue_;
  alignas(64) typename Sync::template Atomic<Worker*> workers_{nullptr};  // latest first; workers never leave
};

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
// The building blocks of vm/base with real threads.
#include <catch2/catch.hpp>

#include <atomic>
#include <boost/lockfree/queue.hpp>
#include <thread>
#include <vector>

#include "vm/base/adaptive_spin.hpp"
#include "vm/base/inbox.hpp"
#include "vm/base/owner_lock.hpp"
#include "vm/base/parker.hpp"
#include "vm/base/retired.hpp"
#include "vm/base/work_queue.hpp"

using namespace vmrun;

namespace {

struct Work {
  Work* next = nullptr;
  int number = 0;
};

}  // namespace

TEST_CASE("An inbox and a parker hand over everything, in each sender's order") {
  constexpr int kSenders = 4, kEach = 20000;
  Inbox<Work, &Work::next> box;
  Parker parker;
  std::vector<Work> items(kSenders * kEach);
  std::vector<std::thread> senders;
  for (int s = 0; s < kSenders; ++s)
    senders.emplace_back([&, s] {
      for (int i = 0; i < kEach; ++i) {
        Work& it = items[static_cast<std::size_t>(s * kEach + i)];
        it.number = s * kEach + i;
        box.push(it);
        parker.wake();
      }
    });
  int expected[kSenders] = {}, received = 0, out_of_order = 0;
  while (received < kSenders * kEach) {
    parker.park([&] { return box.has_mail(); });
    for (Work* it = box.take(); it; it = it->next) {
      out_of_order += it->number % kEach != expected[it->number / kEach]++;
      ++received;
    }
  }
  for (auto& t : senders) t.join();
  REQUIRE(out_of_order == 0);
  REQUIRE_FALSE(box.has_mail());
}

TEST_CASE("A closed inbox refuses and gives out what was there") {
  Inbox<Work, &Work::next> box;
  Work a, b;
  REQUIRE(box.try_push(a));
  REQUIRE(box.close() == &a);
  REQUIRE_FALSE(box.try_push(b));
  REQUIRE(box.is_closed());
  REQUIRE(box.take() == nullptr);
}

TEST_CASE("What is pushed into a work queue is taken once, by workers that sleep in between") {
  constexpr int kSenders = 3, kEach = 20000, kWorkers = 3;
  WorkQueue<Work, boost::lockfree::queue<Work*>> queue(0);
  std::vector<Work> items(kSenders * kEach), ends(kWorkers);
  std::atomic<int> taken{0};
  std::vector<std::thread> workers, senders;
  std::vector<decltype(queue)::Worker> selves(kWorkers);
  const auto nobody_more = [] {};
  for (auto& self : selves)
    workers.emplace_back([&] {
      AdaptiveSpin spin;
      queue.join(self);
      for (;;) {
        Work& it = queue.take(
            self, [&](auto&& there) { return spin.until(there); },
            [](auto& parker, auto&& there) {
              while (!there()) parker.park(there);
            },
            nobody_more);
        if (it.number < 0) return;
        ++it.number;
        ++taken;
      }
    });
  for (int s = 0; s < kSenders; ++s)
    senders.emplace_back([&, s] {
      for (int i = 0; i < kEach; ++i) {
        queue.push(items[static_cast<std::size_t>(s * kEach + i)], nobody_more);
        if (i % 64 == 0)
          while (taken < i) std::this_thread::yield();  // so that workers run out of work
      }
    });
  for (auto& t : senders) t.join();
  for (Work& end : ends) {
    end.number = -1;
    queue.push(end, nobody_more);
  }
  for (auto& t : workers) t.join();
  REQUIRE(taken == kSenders * kEach);
  int other_than_once = 0;
  for (const Work& it : items) other_than_once += it.number != 1;
  REQUIRE(other_than_once == 0);
}

TEST_CASE("The owner of a lock and the others exclude each other") {
  OwnerLock lock;
  long guarded = 0, others = 0;
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  std::atomic<long> by_others{0};
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&] {
      while (!stop.load(std::memory_order_relaxed)) {
        if (!lock.try_lock_by_other()) continue;
        ++guarded;
        lock.unlock_by_other();
        by_others.fetch_add(1, std::memory_order_relaxed);
      }
    });
  constexpr long kOwn = 300000;
  for (long i = 0; i < kOwn; ++i) {
    lock.lock();
    ++guarded;
    lock.unlock();
  }
  stop = true;
  for (auto& t : threads) t.join();
  others = by_others;
  REQUIRE(guarded == kOwn + others);
}

TEST_CASE("What is retired is freed once nobody can hold it") {
  Retired<Work, &Work::next> retired;
  Work items[100];
  int freed = 0;
  const auto count = [&](Work&) { ++freed; };
  EpochSlot& slot = epoch_slot();
  epoch_enter(slot);
  for (Work& it : items) retired.retire(it);
  REQUIRE(retired.batch_is_full());
  retired.stamp();
  retired.reclaim(count);
  REQUIRE(freed == 0);
  epoch_quiescent(slot);
  retired.reclaim(count);
  REQUIRE(freed == 100);
  REQUIRE(retired.empty());
  epoch_leave(slot);
}

TEST_CASE("Code is not freed while a built-in function that it has called waits for others") {
  Retired<Work, &Work::next, epoch_passed_by_code> retired;
  Work code;
  int freed = 0;
  const auto try_to_free = [&] {
    for (int n = 0; n < 3; ++n) retired.reclaim([&](Work&) { ++freed; });
  };
  EpochSlot& slot = epoch_slot();
  epoch_enter(slot);
  retired.retire(code);  // somebody watches the function
  retired.stamp();
  for (int n = 0; n < 3; ++n) {
    epoch_quiescent_in_slice(slot);
    try_to_free();
  }
  REQUIRE(freed == 0);
  epoch_quiescent(slot);  // between two slices
  try_to_free();
  REQUIRE(freed == 1);
  epoch_leave(slot);
}

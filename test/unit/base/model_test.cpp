// SPDX-License-Identifier: Apache-2.0
// The building blocks of vm/base in every order of events; see explorer.hpp. Each check is also
// seen to fail when the operation it is about is left out. Sanitizers are not told about its
// fibers: they have nothing to say about one thread.
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <vector>

#include "test/unit/base/explorer.hpp"
#include "vm/base/epoch.hpp"
#include "vm/base/inbox.hpp"
#include "vm/base/owner_lock.hpp"
#include "vm/base/parker.hpp"
#include "vm/base/shared_mutex.hpp"
#include "vm/base/under_way.hpp"
#include "vm/base/work_queue.hpp"
#include "vm/sched/alarm.hpp"

using namespace vmrun;
using explorer::ExplorerSync;
using explorer::Memory;
using explorer::Run;
using explorer::Weaken;

namespace {

/// What a thread writes before it hands something over and the other one reads. Plain data would be
/// the same to the processor.
class Content {
 public:
  void write() { is_written_.store(true, std::memory_order_relaxed); }
  void expect(Run& run) const {
    if (!is_written_.load(std::memory_order_relaxed)) run.fail("content not seen");
  }

 private:
  explorer::Atomic<bool> is_written_{false};
};

struct Item {
  Item* next = nullptr;
  int sender = 0, number = 0;
  Content content;
};
using Box = Inbox<Item, &Item::next, NoTags, ExplorerSync>;

/// Counts what comes, and fails the run when one sender's things come out of order.
struct Received {
  int last[3] = {0, 0, 0};
  int count = 0;
  void all(Run& run, Item* it) {
    for (; it; it = it->next) {
      it->content.expect(run);
      if (it->number != last[it->sender] + 1) run.fail("out of order");
      last[it->sender] = it->number;
      ++count;
    }
  }
};

/// For programs with too many orders on ARM64.
std::size_t holds_on_x86(const explorer::Program& program) {
  const explorer::Result result = explorer::explore(program, Memory::kX86);
  CHECK(result.failure == "");
  return result.runs;
}

/// Returns the fewer orders of the two memories.
std::size_t holds(const explorer::Program& program) {
  const explorer::Result on_x86 = explorer::explore(program, Memory::kX86),
                         on_arm = explorer::explore(program, Memory::kArm);
  UNSCOPED_INFO(on_x86.runs << " orders on x86-64, " << on_arm.runs << " on ARM64");
  CHECK(on_x86.failure == "");
  CHECK(on_arm.failure == "");
  return std::min(on_x86.runs, on_arm.runs);
}

/// why_on_arm: where what goes wrong first is something else.
void fails(const explorer::Program& program, Weaken weaken, const char* why,
           const char* why_on_arm = nullptr) {
  CHECK(explorer::explore(program, Memory::kX86, weaken).failure == why);
  CHECK(explorer::explore(program, Memory::kArm, weaken).failure == (why_on_arm ? why_on_arm : why));
}
/// As fails, where x86-64 has the order whatever the program asks for.
void fails_on_arm(const explorer::Program& program, Weaken weaken, const char* why) {
  CHECK(explorer::explore(program, Memory::kX86, weaken).failure == "");
  CHECK(explorer::explore(program, Memory::kArm, weaken).failure == why);
}

}  // namespace

namespace {

using Cell = explorer::Atomic<int>;
using Step = std::function<int(Cell& x, Cell& y)>;

/// Whether both threads can read 0. x and y are 0 in the beginning.
bool both_read_0(Memory memory, const Step& one, const Step& other) {
  const explorer::Program program = [&](Run& run) {
    struct Shared {
      Cell x, y;
      int read[2] = {1, 1};
    };
    auto s = std::make_shared<Shared>();
    run.thread([s, one] { s->read[0] = one(s->x, s->y); });
    run.thread([s, other] { s->read[1] = other(s->y, s->x); });
    run.at_end([s, &run] {
      if (!s->read[0] && !s->read[1]) run.fail("both");
    });
  };
  return explorer::explore(program, memory).failure == "both";
}

/// Writes one and reads the other.
Step store_and_load(std::memory_order store, std::memory_order load) {
  return [=](Cell& mine, Cell& other) {
    mine.store(1, store);
    return other.load(load);
  };
}
Step exchange_and_load(std::memory_order exchange, std::memory_order load) {
  return [=](Cell& mine, Cell& other) {
    mine.exchange(1, exchange);
    return other.load(load);
  };
}
/// Hands over, and takes: 0 when it sees the flag and not what was written before.
Step hand_over(std::memory_order store) {
  return [=](Cell& content, Cell& flag) {
    content.store(1, std::memory_order_relaxed);
    flag.store(1, store);
    return 0;
  };
}
Step take(std::memory_order load) {
  return [=](Cell& flag, Cell& content) {
    return flag.load(load) ? content.load(std::memory_order_relaxed) : 1;
  };
}

}  // namespace

TEST_CASE("the explorer has the orders of x86-64 and of ARM64, as litmus tests show them") {
  using enum std::memory_order;
  const auto on = [](const Step& one, const Step& other) {
    return std::pair(both_read_0(Memory::kX86, one, other), both_read_0(Memory::kArm, one, other));
  };
  const auto same = [&](const Step& step) { return on(step, step); };
  const std::pair nowhere(false, false), on_arm(false, true), everywhere(true, true);
  CHECK(same(store_and_load(relaxed, relaxed)) == everywhere);
  CHECK(same(store_and_load(release, acquire)) == everywhere);
  CHECK(same(store_and_load(seq_cst, relaxed)) == on_arm);
  CHECK(same(store_and_load(seq_cst, acquire)) == on_arm);  // as ldapr has it
  CHECK(same(store_and_load(seq_cst, seq_cst)) == nowhere);
  CHECK(same(exchange_and_load(seq_cst, relaxed)) == on_arm);
  CHECK(same(exchange_and_load(seq_cst, seq_cst)) == nowhere);
  CHECK(on(hand_over(relaxed), take(relaxed)) == on_arm);
  CHECK(on(hand_over(relaxed), take(acquire)) == on_arm);
  CHECK(on(hand_over(release), take(relaxed)) == on_arm);
  CHECK(on(hand_over(release), take(acquire)) == nowhere);
}

TEST_CASE("Inbox: whatever is pushed is taken once, in each sender's order, or refused") {
  const auto program = [](Run& run) {
    struct Shared {
      Box box;
      Item items[3] = {{nullptr, 0, 1, {}}, {nullptr, 0, 2, {}}, {nullptr, 1, 1, {}}};
      Received received;
      int refused = 0;
    };
    auto s = std::make_shared<Shared>();
    run.thread([s] {
      for (int i = 0; i < 2; ++i) {
        s->items[i].content.write();
        s->refused += !s->box.try_push(s->items[i]);
      }
    });
    run.thread([s] {
      s->items[2].content.write();
      s->refused += !s->box.try_push(s->items[2]);
    });
    run.thread([s, &run] {
      s->received.all(run, s->box.take());
      s->received.all(run, s->box.close());
      if (s->box.take()) run.fail("taken from a closed one");
    });
    run.at_end([s, &run] {
      if (s->received.count + s->refused != 3) run.fail("lost");
    });
  };
  REQUIRE(holds(program) > 50);
  fails(program, Weaken::kUpdates, "lost");
  fails_on_arm(program, Weaken::kAcquire, "content not seen");
  fails_on_arm(program, Weaken::kRelease, "content not seen");
}

namespace {

struct alignas(16) Signal {
  Signal* next = nullptr;
  bool is_message = false;
};
struct SignalTags {
  static constexpr std::uint64_t kAddressMask = ~std::uint64_t{15}, kSignals = 8;
  static std::uint64_t after_push(std::uint64_t old, const Signal& s) {
    return (old & kSignals) | (s.is_message ? 0 : kSignals);
  }
};

/// A thread pushes a signal and asks whether it has been handled, another one pushes a message, and
/// the owner takes what there is twice. marks: the owner does so by UnderWay.
explorer::Program signals_handled(bool marks) {
  return [marks](Run& run) {
    struct Shared {
      Inbox<Signal, &Signal::next, SignalTags, ExplorerSync> box;
      BasicUnderWay<ExplorerSync> under_way;
      Signal signal, message{nullptr, true};
      explorer::Atomic<bool> handled{false};
    };
    auto s = std::make_shared<Shared>();
    run.thread([s, &run] {
      s->box.push(s->signal);
      if (!s->under_way.none(s->box.word(), SignalTags::kSignals)) return;
      if (!s->handled.load(std::memory_order_relaxed)) run.fail("said to be handled too early");
    });
    run.thread([s] { s->box.push(s->message); });
    run.thread([s, marks] {
      for (int i = 0; i < 2; ++i) {
        auto& word = s->box.word();
        const std::uint64_t taken = marks ? s->under_way.take(word, SignalTags::kSignals) : word.exchange(0);
        for (const Signal* it = s->box.address(taken); it; it = it->next)
          if (!it->is_message) s->handled.store(true, std::memory_order_relaxed);
        if (marks && s->under_way.handling()) s->under_way.handled();
      }
    });
  };
}

}  // namespace

TEST_CASE("UnderWay: what is said to be handled has been") {
  REQUIRE(holds(signals_handled(true)) > 50);
  fails(signals_handled(false), Weaken::kNothing, "said to be handled too early");
  fails(signals_handled(true), Weaken::kUpdates, "said to be handled too early");
  fails_on_arm(signals_handled(true), Weaken::kAcquire, "said to be handled too early");
  fails_on_arm(signals_handled(true), Weaken::kRelease, "said to be handled too early");
}

TEST_CASE("Alarm: it is set, or has rung behind what was queued") {
  enum State : int { kOff, kSoon, kLate };
  struct Timer {
    explorer::Atomic<int> state{kOff};
    // The kernel's lock orders the calls.
    void soon() { state.exchange(kSoon, std::memory_order_acq_rel); }
    void off() { state.exchange(kOff, std::memory_order_acq_rel); }
    void late(Word) { state.exchange(kLate, std::memory_order_acq_rel); }
  };
  // Something is queued: by the owner, as the alarm rings; or by another thread, as the owner
  // clears the alarm.
  const auto program = [](bool rings) {
    return [rings](Run& run) {
      struct Shared {
        BasicAlarm<ExplorerSync, Timer> alarm;
        explorer::Atomic<bool> queued{false};
        bool seen = false;
      };
      auto s = std::make_shared<Shared>();
      s->alarm.set();
      run.thread([s, rings] {
        s->queued.store(true, rings ? std::memory_order_relaxed : std::memory_order_seq_cst);
        if (!s->alarm.is_set()) s->alarm.set();
      });
      if (rings)
        run.thread([s] {
          s->alarm.timer().off();  // the kernel does so when it rings
          s->alarm.has_rung();
          s->seen = s->queued.load(std::memory_order_relaxed);
          s->alarm.ring_late(1);
        });
      else
        run.thread([s] {
          s->alarm.clear();
          s->seen = s->queued.load(std::memory_order_seq_cst);
        });
      run.at_end([s, &run] {
        if (s->alarm.is_set() && s->alarm.timer().state.load() != kSoon) run.fail("set, and does not ring");
        if (!s->seen && !s->alarm.is_set()) run.fail("forgotten");
      });
    };
  };
  REQUIRE(holds(program(true)) > 10);
  fails(program(true), Weaken::kHeavyFence, "forgotten");
  REQUIRE(holds(program(false)) > 2);
  fails(program(false), Weaken::kBarriers, "forgotten");
}

TEST_CASE("Parker: who sleeps is woken for whatever comes") {
  const auto program = [](Run& run) {
    struct Shared {
      Box box;
      BasicParker<ExplorerSync> parker;
      Item items[2] = {{nullptr, 0, 1, {}}, {nullptr, 0, 2, {}}};
      Received received;
    };
    auto s = std::make_shared<Shared>();
    for (Item& it : s->items) it.content.write();
    run.thread([s] {
      for (Item& it : s->items) {
        s->box.push(it);
        s->parker.wake();
      }
    });
    run.thread([s, &run] {
      while (s->received.count < 2) {
        s->received.all(run, s->box.take());
        if (s->received.count < 2) s->parker.park([&] { return s->box.has_mail(); });
      }
    });
  };
  REQUIRE(holds(program) > 50);
  fails(program, Weaken::kBarriers, "nobody can go on");
}

TEST_CASE("SharedMutex: one writer or readers, and who sleeps is woken") {
  const auto with = [](int writers, int readers) {
    return [=](Run& run) {
      struct Shared {
        BasicSharedMutex<ExplorerSync, 1> mutex;
        int readers = 0, writers = 0;
        explorer::Atomic<int> written{0};
      };
      auto s = std::make_shared<Shared>();
      const auto touch = [] { explorer::current_run->step(nullptr, Run::Touch::kNothing); };
      for (int n = 0; n < writers; ++n)
        run.thread([s, touch, &run] {
          s->mutex.lock();
          if (s->readers || s->writers++) run.fail("not alone");
          touch();
          s->written.store(s->written.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
          --s->writers;
          s->mutex.unlock();
        });
      for (int n = 0; n < readers; ++n)
        run.thread([s, touch, &run] {
          s->mutex.lock_shared();
          ++s->readers;
          if (s->writers) run.fail("beside a writer");
          touch();
          --s->readers;
          s->mutex.unlock_shared();
        });
      run.at_end([s, writers, &run] {
        if (s->written.load() != writers) run.fail("content not seen");
      });
    };
  };
  REQUIRE(holds(with(2, 0)) > 10);
  REQUIRE(holds(with(1, 1)) > 10);
  REQUIRE(holds_on_x86(with(2, 1)) > 50);
  REQUIRE(holds_on_x86(with(1, 2)) > 50);
  fails(with(2, 1), Weaken::kUpdates, "beside a writer", "nobody can go on");
  fails_on_arm(with(2, 0), Weaken::kAcquire, "content not seen");
  fails_on_arm(with(2, 0), Weaken::kRelease, "content not seen");
}

namespace {

/// Stands for boost::lockfree::queue: an operation that succeeds is one exchange, and one that
/// finds nothing may have read what was there before.
class Fifo {
 public:
  bool push(Item* it) {
    items_.push_back(it);  // the only thread that pushes
    pushed_.fetch_add(1, std::memory_order_release);
    return true;
  }
  bool pop(Item*& it) {
    std::uint32_t n = popped_.load(std::memory_order_acquire);
    do {
      if (pushed_.load(std::memory_order_acquire) <= n) return false;
    } while (!popped_.compare_exchange_weak(n, n + 1, std::memory_order_acquire, std::memory_order_acquire));
    it = items_[n];
    return true;
  }

 private:
  std::vector<Item*> items_;
  explorer::Atomic<std::uint32_t> pushed_{0}, popped_{0};
};
using Queue = WorkQueue<Item, Fifo, ExplorerSync>;

}  // namespace

TEST_CASE("WorkQueue: nothing waits while a worker is idle, or one more may be started") {
  // A worker takes one piece of work, which keeps it for ever: what is left then has nobody. The
  // second worker begins when it is asked for.
  const auto with = [](int count) {
    return [count](Run& run) {
      struct Shared {
        Queue queue;
        Queue::Worker workers[2];
        Item items[2];
        explorer::Atomic<std::uint32_t> started{0};
      };
      auto s = std::make_shared<Shared>();
      const auto more = [s] {
        s->started.store(1);
        ExplorerSync::futex_wake(s->started);
      };
      const auto sleep = [](auto& parker, auto&& there) {
        while (!there()) parker.park(there);
      };
      s->queue.join(s->workers[0]);
      run.thread([s, more, sleep] {
        (void)s->queue.take(
            s->workers[0], [](auto&&) { return false; }, sleep, more);
      });
      if (count > 1)
        run.thread([s, more, sleep] {
          ExplorerSync::futex_wait(s->started, 0, -1);
          s->queue.join(s->workers[1]);
          (void)s->queue.take(
              s->workers[1], [](auto&&) { return false; }, sleep, more);
        });
      run.thread([s, more, count] {
        for (int i = 0; i < count; ++i) s->queue.push(s->items[i], more);
      });
    };
  };
  REQUIRE(holds_on_x86(with(2)) > 50);
  REQUIRE(holds(with(1)) > 10);
  fails(with(1), Weaken::kBarriers, "nobody can go on");
}

TEST_CASE("OwnerLock: the owner and others exclude each other") {
  const auto program = [](Run& run) {
    struct Shared {
      BasicOwnerLock<ExplorerSync> lock;
      bool somebody = false;
      int sections = 0;
      explorer::Atomic<int> written{0};
    };
    auto s = std::make_shared<Shared>();
    const auto inside = [s, &run] {
      run.step(&s->somebody, Run::Touch::kWrites);
      if (s->somebody) run.fail("both were inside");
      s->somebody = true;
      ++s->sections;
      s->written.store(s->written.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      run.step(&s->somebody, Run::Touch::kWrites);
      s->somebody = false;
    };
    run.at_end([s, &run] {
      if (s->written.load() != s->sections) run.fail("content not seen");
    });
    run.thread([s, inside] {
      s->lock.lock();
      inside();
      s->lock.unlock();
    });
    run.thread([s, inside] {
      if (!s->lock.try_lock_by_other()) return;
      inside();
      s->lock.unlock_by_other();
    });
  };
  REQUIRE(holds(program) > 50);
  fails(program, Weaken::kHeavyFence, "content not seen");
  fails_on_arm(program, Weaken::kAcquire, "content not seen");
  fails_on_arm(program, Weaken::kRelease, "content not seen");
}

TEST_CASE("Epochs: code that is run is not freed") {
  const auto program = [](Run& run) {
    struct Shared {
      BasicEpoch<ExplorerSync> epoch;
      BasicEpoch<ExplorerSync>::Slot slot;
      bool freed = false;
      explorer::Atomic<bool> entered{true};
    };
    auto s = std::make_shared<Shared>();
    run.thread([s, &run] {
      s->epoch.enter(s->slot);
      if (s->entered.load(std::memory_order_acquire)) {
        s->epoch.quiescent_but_for_code(s->slot);
        run.step(&s->freed, Run::Touch::kAll);
        if (s->freed) run.fail("returned to what was freed");
      }
      s->epoch.let_go_of_code(s->slot);
      s->epoch.leave(s->slot);
    });
    run.thread([s] {
      s->entered.store(false, std::memory_order_release);
      const Word stamp = s->epoch.stamp();
      for (int i = 0; i < 3; ++i)
        if (s->epoch.passed_by_code(&s->slot, 1, stamp) >= stamp) s->freed = true;
    });
  };
  REQUIRE(holds(program) > 50);
}

TEST_CASE("Epochs: nobody holds what is freed") {
  const auto program = [](Run& run) {
    struct Thing {
      bool freed = false;
    };
    struct Shared {
      BasicEpoch<ExplorerSync> epoch;
      BasicEpoch<ExplorerSync>::Slot slot;
      Thing thing;
      explorer::Atomic<Thing*> published{&thing};
    };
    auto s = std::make_shared<Shared>();
    const auto look = [s, &run] {
      Thing* t = s->published.load(std::memory_order_acquire);
      if (!t) return;
      run.step(t, Run::Touch::kAll);
      if (t->freed) run.fail("looked at what was freed");
    };
    run.thread([s, look] {
      s->epoch.enter(s->slot);
      look();
      s->epoch.quiescent(s->slot);
      look();
      s->epoch.leave(s->slot);
      s->epoch.enter(s->slot);
      look();
      s->epoch.leave(s->slot);
    });
    run.thread([s] {
      s->published.store(nullptr, std::memory_order_release);
      const Word stamp = s->epoch.stamp();
      for (int i = 0; i < 3; ++i)
        if (s->epoch.passed(&s->slot, 1, stamp) >= stamp) s->thing.freed = true;
    });
  };
  REQUIRE(holds(program) > 50);
  fails(program, Weaken::kBarriers, "looked at what was freed");
}
#endif

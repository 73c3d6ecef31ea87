// SPDX-License-Identifier: Apache-2.0
// The process structures' own containers: hash table, dictionary, timer wheel, process table,
// names, references. And what tracing keeps of functions.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "vm/base/epoch.hpp"
#include "vm/process/own_timers.hpp"
#include "vm/process/process_state.hpp"
#include "vm/process/process_table.hpp"
#include "vm/process/registry.hpp"
#include "vm/process/timer_wheel.hpp"
#include "vm/trace/call_pattern.hpp"

using namespace vmrun;

namespace {

void init_table_once() {
  static const bool once = (process_table.init(4096), true);
  (void)once;
}

struct TestProcess {
  TestProcess() {
    init_table_once();
    Word number;
    REQUIRE(process_table.reserve(&number));
    p = allocate_process();
    process_table.publish(*p, number);
  }
  ~TestProcess() {
    p->exiting = true;
    give_up_name(p->registered_name);
    process_table.remove(*p);
    recycle_process(p);
  }
  Process* p;
};

}  // namespace

TEST_CASE("A flat table agrees with std::map under random operations, and keeps the order of insertion") {
  FlatTable<Term, int> table;
  std::map<Word, int> model;
  std::vector<Word> order;
  std::mt19937 random(7);
  auto check_order = [&] {
    std::vector<Word> seen;
    table.for_each([&](Term key, int value) {
      seen.push_back(key.id_number());
      REQUIRE(model.at(key.id_number()) == value);
    });
    REQUIRE(seen == order);
  };
  for (int i = 0; i < 60000; ++i) {
    // Small, large, growing and shrinking.
    const Word n = random() % (i / 10000 % 2 ? 12 : 300);
    const Term key = Term::pid(n);
    if (random() % 5 < (i / 5000 % 2 ? 1u : 3u)) {
      const bool is_new = model.emplace(n, i).second;
      REQUIRE(table.insert(key, i) == is_new);
      if (is_new) order.push_back(n);
    } else if (random() % 4 == 0) {
      FlatTable<Term, int>::Entry oldest;
      REQUIRE(table.take_oldest(&oldest) == !order.empty());
      if (order.empty()) continue;
      REQUIRE(oldest.key.id_number() == order.front());
      model.erase(order.front());
      order.erase(order.begin());
    } else {
      REQUIRE(table.erase(key) == (model.erase(n) == 1));
      std::erase(order, n);
    }
    REQUIRE(table.size() == model.size());
    REQUIRE((table.find(key) != nullptr) == (model.count(n) == 1));
    if (i % 64 == 0) check_order();
  }
  check_order();
  for (auto& [n, value] : model) REQUIRE(*table.find(Term::pid(n)) == value);
}

TEST_CASE("A flat table that is used as a queue stays small") {
  FlatTable<Term, int> table;
  for (Word n = 0; n < 10; ++n) table.insert(Term::pid(n), 0);
  const std::size_t bytes = table.memory_bytes();
  for (Word n = 10; n < 10000; ++n) {
    table.insert(Term::pid(n), 0);
    REQUIRE(table.erase(Term::pid(n - 10)));
  }
  REQUIRE(table.memory_bytes() <= 2 * bytes);
}

TEST_CASE("A process dictionary agrees with std::map, small and large") {
  Dictionary d;
  std::map<int, int> model;
  std::mt19937 random(11);
  for (int i = 0; i < 20000; ++i) {
    const int key = static_cast<int>(random() % (i < 5000 ? 6 : 500));
    const Term old = model.count(key) ? Term::small(model[key]) : atoms::undefined;
    switch (random() % 3) {
      case 0:
        REQUIRE(d.put(Term::small(key), Term::small(i)) == old);
        model[key] = i;
        break;
      case 1:
        REQUIRE(d.erase(Term::small(key)) == old);
        model.erase(key);
        break;
      default: REQUIRE(d.get(Term::small(key)) == old);
    }
    REQUIRE(d.size() == model.size());
  }
}

TEST_CASE("Timers fire at their tick, in order, once, and not when cancelled") {
  TimerWheel wheel;
  std::mt19937_64 random(3);
  const Word start = 1'000'000;
  std::multimap<Word, Word> due;  // tick → id
  Word id = 0;
  Word now = start;
  std::map<Word, Word> waiting;
  std::map<Word, RefKey> keys;
  for (int round = 0; round < 3000; ++round) {
    for (int n = static_cast<int>(random() % 4); n > 0; --n) {
      static constexpr Word kSpans[] = {3, 200, 300, 70'000, 20'000'000, Word{1} << 33};
      const Word tick = now + 1 + random() % kSpans[random() % 6];
      ++id;
      Fragment* f = Fragment::create(0);
      f->message = Term::small(static_cast<SWord>(id));
      keys[id] = wheel.start_message(Term::pid(1), now, tick, f);
      waiting[id] = tick;
    }
    if (random() % 3 == 0 && !waiting.empty()) {
      auto victim = waiting.begin();
      std::advance(victim, random() % waiting.size());
      REQUIRE(wheel.look_up(keys[victim->first], now, false, Term::pid(1)) ==
              static_cast<SWord>(victim->second - now));
      REQUIRE(wheel.look_up(keys[victim->first], now, true, Term::pid(1)) ==
              static_cast<SWord>(victim->second - now));
      REQUIRE(wheel.look_up(keys[victim->first], now, true, Term::pid(1)) == -1);
      waiting.erase(victim);
    }
    const Word next = wheel.next_tick();
    if (!waiting.empty()) {
      Word least = ~Word{0};
      for (auto& [i, tick] : waiting) least = std::min(least, tick);
      REQUIRE(next <= least);  // never late
      REQUIRE(wheel.next_tick_hint() <= next);
    }
    now += random() % 20 == 0 ? random() % 100'000 : random() % 40;
    Word last = 0;
    wheel.advance(now, [&](const TimerWheel::Expired& e) {
      const Word which = static_cast<Word>(e.message->message.small_value());
      Fragment::destroy(e.message);
      REQUIRE(waiting.count(which));
      REQUIRE(waiting[which] <= now);
      REQUIRE(waiting[which] >= last);
      last = waiting[which];
      waiting.erase(which);
    });
    for (auto& [i, tick] : waiting) REQUIRE(tick > now);
    REQUIRE(wheel.count() == waiting.size());
  }
}

TEST_CASE("A timer's reference tells its wheel, and none but its timer") {
  TimerWheel first(0), other(5);
  auto message = [] { return Fragment::create(0); };
  const RefKey a = first.start_message(Term::pid(1), 10, 20, message());
  const RefKey b = other.start_message(Term::pid(1), 10, 20, message());
  REQUIRE(TimerWheel::number_of(a) == 0);
  REQUIRE(TimerWheel::number_of(b) == 5);
  REQUIRE(TimerWheel::number_of(next_ref_key()) == -1);
  REQUIRE(first.look_up(b, 10, false, Term::pid(1)) == -1);
  REQUIRE(first.look_up(next_ref_key(), 10, false, Term::pid(1)) == -1);
  REQUIRE(first.look_up(a, 10, true, Term::pid(1)) == 10);
  // The next timer lies in the same place.
  const RefKey c = first.start_message(Term::pid(1), 10, 30, message());
  REQUIRE_FALSE(a == c);
  REQUIRE(first.look_up(a, 10, true, Term::pid(1)) == -1);
  REQUIRE(first.look_up(c, 10, false, Term::pid(1)) == 20);
  first.advance(30, [](const TimerWheel::Expired& e) { Fragment::destroy(e.message); });
  REQUIRE(first.look_up(c, 30, false, Term::pid(1)) == -1);
}

TEST_CASE("The timers that aim at a process are given back when it ends") {
  TimerWheel first(0), other(5);
  const Term self = Term::pid(1), ended = Term::pid(2);
  OwnTimers own;
  const auto start = [&](TimerWheel& wheel) {
    const RefKey key = wheel.start_message(self, 10, 20, Fragment::create(0));
    own.add(wheel, key, self);
    return key;
  };
  start(first);
  start(other);
  const RefKey latest = start(first);
  first.look_up(latest, 10, true, self);
  own.forget(latest);
  REQUIRE(first.count() + other.count() == 2);
  int left = 1;
  REQUIRE_FALSE(own.give_back(self, &left));
  REQUIRE(first.count() + other.count() == 1);
  left = 2;
  REQUIRE(own.give_back(self, &left));
  REQUIRE(left == 1);
  REQUIRE(first.empty());
  REQUIRE(other.empty());
  // Another process starts one while its target ends.
  list_timer_of_other(ended, first, first.start_message(ended, 10, 20, Fragment::create(0)));
  REQUIRE(first.empty());
  REQUIRE_FALSE(take_timers_of_others(ended));
}

TEST_CASE("Looking timers up takes the same time however many there are") {
  const auto ns_for_each = [](unsigned count) {
    TimerWheel wheel;
    std::vector<RefKey> keys;
    for (unsigned i = 0; i < count; ++i)
      keys.push_back(wheel.start_message(Term::pid(1), 10, 1000 + i % 5000, Fragment::create(0)));
    double least = 1e9;  // of several rounds: other work on the machine only adds
    for (int round = 0; round < 5; ++round) {
      const auto begin = std::chrono::steady_clock::now();
      for (const RefKey& key : keys) wheel.look_up(key, 10, false, Term::pid(1));
      const auto took = static_cast<double>((std::chrono::steady_clock::now() - begin).count());
      least = std::min(least, took / count);
    }
    return least;
  };
  const double few = ns_for_each(1000);
  REQUIRE(ns_for_each(300'000) < 50 * few);  // a list for each of 1024 hashes: 350 times
}

TEST_CASE("Several threads serve one wheel: each timer fires once, or is cancelled") {
  TimerWheel wheel;
  constexpr unsigned kTimers = 20'000;
  std::vector<RefKey> keys;
  for (unsigned i = 0; i < kTimers; ++i) {
    Fragment* f = Fragment::create(0);
    f->message = Term::small(i);
    keys.push_back(wheel.start_message(Term::pid(1), 0, 1 + i % 3000, f));
  }
  std::vector<std::atomic<unsigned>> fired(kTimers);
  std::atomic<Word> now{0};
  std::vector<std::thread> servers;
  for (int n = 0; n < 3; ++n)
    servers.emplace_back([&] {
      while (!wheel.empty())
        wheel.advance(now.fetch_add(1), [&](const TimerWheel::Expired& e) {
          ++fired[static_cast<std::size_t>(e.message->message.small_value())];
          Fragment::destroy(e.message);
        });
    });
  for (unsigned i = 0; i < kTimers; i += 7)
    if (wheel.look_up(keys[i], 0, true, Term::pid(1)) >= 0) ++fired[i];
  for (std::thread& t : servers) t.join();
  for (auto& n : fired) REQUIRE(n == 1);
}

TEST_CASE("A receive timer can be given back before and after it fired") {
  TimerWheel wheel;
  Timer* early = wheel.start_receive(Term::pid(1), 10, 20);
  Timer* late = wheel.start_receive(Term::pid(2), 10, 30);
  int fired = 0;
  wheel.advance(25, [&](const TimerWheel::Expired& e) {
    ++fired;
    REQUIRE(e.target == Term::pid(1));
    REQUIRE(e.message == nullptr);
  });
  REQUIRE(fired == 1);
  REQUIRE(early->fired);
  REQUIRE_FALSE(late->fired);
  TimerWheel::cancel_receive(early);
  TimerWheel::cancel_receive(late);
  REQUIRE(wheel.empty());
}

TEST_CASE("The process table gives numbers in sequence and finds the living only") {
  TestProcess a, b;
  REQUIRE(b.p->id.id_number() > a.p->id.id_number());
  REQUIRE(process_table.find(a.p->id) == a.p);
  const Term stale = Term::pid(a.p->id.id_number() + process_table.limit());
  REQUIRE(process_table.find(stale) == nullptr);
  std::vector<TestProcess*> many;
  while (process_table.count() < process_table.limit()) many.push_back(new TestProcess);
  Word number;
  REQUIRE_FALSE(process_table.reserve(&number));
  for (TestProcess* p : many) delete p;
  REQUIRE(process_table.count() == 2);
}

namespace {

struct Numbered {
  Term id;
};
using NumberedTable = IdTable<Numbered, Term, Term::pid>;

}  // namespace

TEST_CASE("Walking a table takes time for what is in it, not for its size") {
  static NumberedTable table;
  table.init(Word{1} << 27, Word{1} << 27, "a test");
  std::vector<Numbered> things(5);
  for (Numbered& t : things) {
    Word number;
    REQUIRE(table.reserve(&number));
    table.publish(t, number);
  }
  std::size_t seen = 0;
  // Looking at every slot takes a fifth of a second each time.
  for (int i = 0; i < 10'000; ++i) table.for_each([&](const Numbered&) { ++seen; });
  REQUIRE(seen == 10'000 * things.size());
}

TEST_CASE("Threads fill a table to its limit, and what is there is seen by who walks it") {
  static NumberedTable table;
  table.init(1 << 12, 1 << 12, "a test");
  constexpr unsigned kThreads = 4, kEach = 30'000;
  std::atomic<unsigned> running{kThreads}, entered{0};
  std::vector<std::vector<Numbered>> things(kThreads);
  std::vector<std::thread> threads;
  for (unsigned n = 0; n < kThreads; ++n)
    threads.emplace_back([&, n] {
      auto& mine = things[n];
      mine.resize(kEach);
      for (unsigned i = 0; i < kEach; ++i) {
        Word number;
        if (!table.reserve(&number)) break;
        table.publish(mine[i], number);
        if (table.find(mine[i].id) != &mine[i]) std::abort();
        ++entered;
        bool seen = false;
        if (i % 64 == 0) {
          table.for_each([&](const Numbered& t) { seen |= &t == &mine[i]; });
          if (!seen) std::abort();
        }
        // Most go again; a few stay, until the table is full.
        if (i % 16) table.remove(mine[i]);
      }
      --running;
    });
  for (std::thread& t : threads) t.join();
  REQUIRE(table.count() == table.limit());
  std::size_t seen = 0;
  table.for_each([&](const Numbered&) { ++seen; });
  REQUIRE(seen == table.limit());
  Word number;
  REQUIRE_FALSE(table.reserve(&number));
}

TEST_CASE("What is entered behind another has a larger number, whichever thread enters it") {
  static NumberedTable table;
  table.init(1 << 12, 1 << 12, "a test");
  std::vector<Word> numbers(1'000);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    std::thread([&] {
      const auto behind = i == 0 ? std::nullopt : std::optional(numbers[i - 1]);
      if (!table.reserve(&numbers[i], behind) || (behind && numbers[i] <= *behind)) std::abort();
    }).join();
  REQUIRE(table.count() == numbers.size());
}

TEST_CASE("Who walks a table in pieces sees what was in it at the beginning, whatever changes meanwhile") {
  static NumberedTable table;
  table.init(1 << 12, 1 << 12, "a test");
  const auto enter = [&](Numbered& t) {
    Word number;
    if (!table.reserve(&number)) std::abort();
    table.publish(t, number);
  };
  std::vector<Numbered> before(1'500);
  std::set<Word> expected;
  for (Numbered& t : before) {
    enter(t);
    expected.insert(t.id.id_number());
  }
  std::atomic<bool> done{false};
  const auto change = [&](std::size_t first, std::size_t count) {  // some go, and others come and go
    std::vector<Numbered> passing(64);
    for (std::size_t i = first; i < first + count; ++i) table.remove(before[i]);
    while (!done) {
      for (Numbered& t : passing) enter(t);
      // Meanwhile another goes through all.
      bool seen = false;
      table.for_each([&](const Numbered& t) { seen |= &t == &passing[63]; });
      if (!seen) std::abort();
      for (Numbered& t : passing) table.remove(t);
    }
  };
  auto outer = std::make_unique<NumberedTable::Walk>(table),
       inner = std::make_unique<NumberedTable::Walk>(table);
  std::thread one([&] { change(0, 500); }), other([&] { change(500, 500); });
  for (auto* walk : {&outer, &inner}) {
    std::vector<Word> seen;
    while ((*walk)->go_on(100, [&](Term id) { seen.push_back(id.id_number()); })) std::this_thread::yield();
    const std::set<Word> once(seen.begin(), seen.end());
    REQUIRE(once.size() == seen.size());
    REQUIRE(once == expected);
    walk->reset();
  }
  done = true;
  one.join();
  other.join();
  REQUIRE(table.count() == 500);
  std::size_t left = 0;
  NumberedTable::Walk(table).go_on(INT32_MAX, [&](Term) { ++left; });
  REQUIRE(left == 500);
  for (std::size_t i = 1'000; i < 1'500; ++i) table.remove(before[i]);
  NumberedTable::Walk(table).go_on(INT32_MAX, [&](Term) { ++left; });
  REQUIRE(left == 500);
  REQUIRE(table.marked_places() == 0);  // the next has nothing to look at
}

TEST_CASE("Several go through a table at once: none misses what is there while others find chunks empty") {
  static NumberedTable table;
  table.init(1 << 10, 1 << 10, "a test");
  std::atomic<unsigned> missed{0};
  const auto come_and_go = [&] {
    for (int round = 0; round < 20'000; ++round) {
      Numbered mine;
      Word number;
      while (!table.reserve(&number)) std::this_thread::yield();
      table.publish(mine, number);
      bool seen = false, also_seen = false;
      table.for_each([&](const Numbered& t) { seen |= &t == &mine; });
      Word place = 0;
      while (const Numbered* t = table.next(place)) also_seen |= t == &mine;
      if (!seen || !also_seen) ++missed;
      table.remove(mine);
      table.for_each([](const Numbered&) {});  // clears marks
    }
  };
  std::thread one(come_and_go), two(come_and_go);
  come_and_go();
  one.join();
  two.join();
  REQUIRE(missed == 0);
  table.for_each([](const Numbered&) {});
  REQUIRE(table.marked_places() == 0);
}

TEST_CASE("Numbers go on from one that is set, for all threads, and none comes twice") {
  static NumberedTable table;
  table.init(1 << 12, 1 << 12, "a test");
  std::set<Word> all;
  const auto take = [&] {
    Numbered t;
    Word number;
    REQUIRE(table.reserve(&number));
    table.publish(t, number);
    table.remove(t);
    REQUIRE(all.insert(number).second);
    return number % NumberedTable::kRound;
  };
  const auto take_elsewhere = [&] {
    Word number = 0;
    std::thread([&] { number = take(); }).join();
    return number;
  };
  for (Word first : {Word{2'000}, Word{100}, NumberedTable::kRound - 1, Word{0}, Word{100}}) {
    take();
    take_elsewhere();
    table.go_on_from(first);
    REQUIRE(table.next_number() == first);
    REQUIRE(take() == first);
    REQUIRE(table.next_number() == (first + 1) % NumberedTable::kRound);
    REQUIRE(take_elsewhere() < (first + 20) % NumberedTable::kRound);
  }
  // What is there keeps its place.
  Numbered stays;
  Word number;
  table.go_on_from(7);
  REQUIRE(table.reserve(&number));
  table.publish(stays, number);
  table.go_on_from(7);
  REQUIRE(table.next_number() == 8);
  REQUIRE(take() == 8);
}

TEST_CASE("Names are given once, and go with the process") {
  const Term name = intern_atom("registry_test_name"), other = intern_atom("registry_test_other");
  TestProcess b;
  {
    TestProcess a;
    REQUIRE(register_name(name, a.p->id) == RegisterResult::kOk);
    REQUIRE(whereis(name) == a.p->id);
    REQUIRE(register_name(name, b.p->id) == RegisterResult::kNameTaken);
    REQUIRE(register_name(other, a.p->id) == RegisterResult::kHasName);
    REQUIRE_FALSE(unregister_name(other));
  }
  REQUIRE_FALSE(whereis(name));
  REQUIRE(register_name(name, b.p->id) == RegisterResult::kOk);
  REQUIRE(unregister_name(name));
  REQUIRE(register_name(other, b.p->id) == RegisterResult::kOk);
  REQUIRE(register_name(name, Term::pid(12345678)) == RegisterResult::kNoProcess);
}

TEST_CASE("References and unique integers of many threads are all different") {
  std::set<std::pair<std::uint32_t, Word>> refs;
  std::set<Word> integers;
  std::vector<std::vector<RefKey>> keys(4);
  std::vector<std::vector<Word>> uniques(4);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5000; ++i) {
        keys[t].push_back(next_ref_key());
        uniques[t].push_back(next_unique_integer());
      }
    });
  for (auto& t : threads) t.join();
  for (auto& list : keys)
    for (auto& k : list) REQUIRE(refs.emplace(k.high, k.low).second);
  for (auto& list : uniques)
    for (Word u : list) REQUIRE(integers.insert(u).second);
}

TEST_CASE("Nothing is reclaimed while a thread may still look at it") {
  // Who asks first brings the next epoch about.
  const Word stamp = epoch_stamp();
  REQUIRE(epoch_passed(stamp) < stamp);
  REQUIRE(epoch_passed(stamp) >= stamp);
  {
    EpochGuard guard;
    const Word later = epoch_stamp();
    REQUIRE(epoch_passed(later) < later);
    REQUIRE(epoch_passed(later) < later);
    epoch_quiescent(epoch_slot());
    REQUIRE(epoch_passed(later) >= later);
  }
}

TEST_CASE("All that is in a table is what was there at one moment") {
  static NumberedTable table;
  table.init(1024, 1024, "a test");
  std::deque<Numbered> chain;  // each goes when the next one is there, at some other place
  std::atomic<bool> begun{false}, done{false};
  std::thread one([&] {
    std::minstd_rand random(1);
    std::array<Word, 512> numbers;
    while (!done) {
      for (Word& number : numbers)
        if (!table.reserve(&number)) std::abort();
      std::shuffle(numbers.begin(), numbers.end(), random);
      for (const Word number : numbers) {
        table.publish(chain.emplace_back(), number);
        begun = true;
        if (chain.size() > 1) table.remove(chain[chain.size() - 2]);
      }
    }
  });
  while (!begun) std::this_thread::yield();
  std::vector<std::vector<Term>> seen(50'000);
  for (auto& ids : seen) ids = table.all_at_one_moment();
  done = true;
  one.join();
  std::map<Word, std::size_t> links;
  for (std::size_t i = 0; i < chain.size(); ++i) links[chain[i].id.id_number()] = i;
  std::size_t wrong = 0;
  for (const auto& ids : seen) {
    std::set<std::size_t> of;
    for (const Term id : ids) of.insert(links.at(id.id_number()));
    if (of.empty() || of.size() > 2 || *of.rbegin() - *of.begin() + 1 != of.size()) ++wrong;
  }
  REQUIRE(wrong == 0);
  REQUIRE(table.count() == 1);
}

TEST_CASE("A call count that pauses is not changed by a thread that has found it before") {
  const FunctionName f{intern_atom("m"), intern_atom("f"), 0};
  const auto change = [&](CallPatternChange::Action action) {
    change_call_pattern(default_session(), f, {.kinds = kCountCalls, .action = action});
  };
  const auto count = [&] {
    Arena arena;
    return call_pattern_term(*default_session(), f, arena).element(4);
  };
  change(CallPatternChange::Action::kOn);
  const std::shared_ptr<const CallPatterns> patterns = find_call_patterns(f);
  const CallPattern* found = patterns->of_sessions.front().get();
  found->count->calls.fetch_add(7);
  REQUIRE(count() == Term::small(7));
  change(CallPatternChange::Action::kPause);
  found->count->calls.fetch_add(1);
  REQUIRE(count() == Term::small(7));
  change(CallPatternChange::Action::kOff);
  REQUIRE(!find_call_patterns(f));
}

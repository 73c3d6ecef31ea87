// SPDX-License-Identifier: Apache-2.0
#include "probes/engine/session.hpp"

#include <catch2/catch.hpp>

#include <sys/resource.h>

#include <thread>

#include "test/unit/engine/support.hpp"

using namespace vmrun::d;
using namespace vmrun::d::test;

TEST_CASE("BEGIN makes a record, and exit ends") {
  TestHost host;
  Program p;
  p.actions.resize(2);
  p.clauses.push_back(clause(kBeginProbe, {{Op::kBegin, 0, 0, 0, 1},
                                           {Op::kLoad, 0, 0, 0, 1},
                                           {Op::kAdd, 1, 0, 0},
                                           {Op::kFi, 1},
                                           {Op::kLoad, 2, 0, 0, 3},
                                           {Op::kExit, 2}}));
  p.clauses.push_back(clause(kBeginProbe, {}));
  p.clauses.push_back(clause(0, {}));
  p.clauses.push_back(clause(kEndProbe, {{Op::kBegin, 0, 0, 0, 0}}));
  auto session = opened(p, host);
  CHECK_FALSE(session->begin());
  CHECK(host.enabled_[0] == 0);
  int status = 0;
  CHECK(session->exiting(status));
  CHECK(status == 3);
  session->end();
  const auto all = records(*session);
  REQUIRE(all.size() == 2);
  CHECK(all[0].head.clause == 0);
  CHECK(all[0].head.probe == kBeginProbe);
  CHECK(all[0].head.cpu == 7);
  CHECK(all[0] == std::vector<std::uint64_t>{1, 2});
  CHECK(all[1].head.clause == 3);
  CHECK(all[1] == std::vector<std::uint64_t>{0});
}

TEST_CASE("probes are enabled as long as a session runs, once each") {
  TestHost host;
  Program p;
  p.clauses.push_back(clause(2, {}));
  p.clauses.push_back(clause(2, {}));
  {
    auto session = opened(p, host);
    host.fire(*session, 2);
    CHECK(host.enabled_[2] == 0);
    CHECK(session->begin());
    CHECK(host.enabled_[2] == 1);
    host.fire(*session, 2);
    host.fire(*session, 1);
    CHECK(records(*session).size() == 2);
  }
  CHECK(host.enabled_[2] == 0);
}

TEST_CASE("counts of several threads are added up while they fire") {
  TestHost host;
  Program p;
  p.aggregations.resize(1);
  p.clauses.push_back(
      clause(0, {{Op::kLoad, 0, 0, 0, 1}, {Op::kKeyarg, 0, 0, 0, 0}, {Op::kAgg, 0, 0, 0, 0}}, false));
  auto session = opened(p, host);
  REQUIRE(session->begin());
  constexpr std::uint64_t kThreads = 4, kFirings = 20000;
  std::vector<std::thread> threads;
  std::atomic<int> running{kThreads};
  for (unsigned number = 0; number < kThreads; ++number)
    threads.emplace_back([&, number] {
      for (std::uint64_t i = 0; i < kFirings; ++i)
        host.fire(*session, 0, {1 + i % 10}, {ArgumentKind::kPid}, number);
      --running;
    });
  std::uint64_t last = 0;
  while (running != 0) {
    std::uint64_t sum = 0;
    for (const auto& e : session->aggregations()) sum += e.values[0];
    CHECK(sum >= last);
    last = sum;
  }
  for (auto& t : threads) t.join();
  const auto all = session->aggregations({0});
  REQUIRE(all.size() == 10);
  for (const auto& e : all) {
    CHECK(e.values[0] == kThreads * kFirings / 10);
    std::uint64_t key[3];
    REQUIRE(e.key.size() == sizeof key);
    std::memcpy(key, e.key.data(), sizeof key);
    CHECK(key[0] == (static_cast<std::uint64_t>(Encoding::kPid) | std::uint64_t{16} << 32));
    CHECK(key[2] == key[1] + 1);
  }
  CHECK(session->aggregations().empty());
  CHECK(session->rings().size() == kThreads);
  CHECK(session->drops(Drop::kAggregation) == 0);
}

TEST_CASE("a thread without descriptors for its ring takes part once there are some") {
  TestHost host;
  Program p;
  p.aggregations.resize(1);
  p.clauses.push_back(clause(0, {{Op::kLoad, 0, 0, 0, 1}, {Op::kAgg, 0, 0, 0, 0}}, false));
  auto session = opened(p, host);
  REQUIRE(session->begin());
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit none{0, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
  constexpr std::uint64_t kLost = 1024;
  for (std::uint64_t i = 0; i < kLost; ++i) host.fire(*session, 0, {1}, {ArgumentKind::kPid}, 0);
  REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(session->rings().empty());
  CHECK(session->drops(Drop::kPrincipal) == kLost);
  host.fire(*session, 0, {1}, {ArgumentKind::kPid}, 0);
  CHECK(session->drops(Drop::kPrincipal) == kLost);
  const auto all = session->aggregations({0});
  REQUIRE(all.size() == 1);
  CHECK(all[0].values[0] == 1);
}

TEST_CASE("who traces may know the process by another number") {
  CHECK(provider_of("erlang1", 17) == "erlang17");
  CHECK(provider_of("erlang1", 0) == "erlang1");
  CHECK(provider_of("dtrace", 17) == "dtrace");
  TestHost host;
  Program p;
  p.options.pid = 4711;
  p.actions.resize(1);
  p.clauses.push_back(clause(0, {{Op::kBegin},
                                 {Op::kBuiltin, 0, 0, 0, static_cast<std::int32_t>(Builtin::kPid)},
                                 {Op::kFi, 0},
                                 {Op::kFbuiltin, 0, 0, 0, static_cast<std::int32_t>(Builtin::kProbeprov)}}));
  auto session = opened(p, host);
  REQUIRE(session->begin());
  host.fire(*session, 0);
  const auto provider = encoded(Encoding::kText, "erlang4711");
  std::vector<std::uint64_t> expected{0, 4711};
  expected.insert(expected.end(), provider.begin(), provider.end());
  CHECK(records(*session).at(0).words == expected);
}

TEST_CASE("each ring says that there are others") {
  TestHost host;
  Program p;
  p.clauses.push_back(clause(0, {}));
  auto session = opened(p, host);
  REQUIRE(session->begin());
  host.fire(*session, 0);
  REQUIRE(session->rings().size() == 1);
  Ring* first = session->rings()[0];
  CHECK(first->said_rings() == 1);
  std::thread([&] { host.fire(*session, 0); }).join();
  REQUIRE(session->rings().size() == 2);
  CHECK(session->rings()[0] == first);  // those that are known stay where they are
  CHECK(first->said_rings() == 2);
  CHECK(session->rings()[1]->said_rings() == 2);
}

namespace {

/// Counts firings of its probes for consumers that ask, as the machine does.
class CountingHost : public TestHost {
 public:
  bool counts_firings() const override { return true; }
  void enable_count(std::uint32_t probe) override { ++counting_[probe]; }
  void disable_count(std::uint32_t probe) override { --counting_[probe]; }
  void read_counts(std::span<const std::uint32_t> probes, std::span<std::uint64_t> counts) override {
    for (std::size_t i = 0; i < probes.size(); ++i) counts[i] = counts_[probes[i]];
  }
  void fire(Session& session, std::uint32_t probe, std::vector<std::uint64_t> arguments = {}) {
    if (counting_[probe] != 0) ++counts_[probe];
    if (enabled_[probe] != 0) TestHost::fire(session, probe, std::move(arguments));
  }

  int counting_[4] = {};
  std::uint64_t counts_[4] = {~0ull, 5, 0, 0};  // of earlier sessions; one is about to begin again at 0
};

const std::vector<Instruction> kCountOnce = {{Op::kLoad, 0, 0, 0, 1}, {Op::kAgg, 0, 0, 0, 0}};

std::uint64_t only_value(Session& session, const std::vector<std::uint32_t>& clear = {}) {
  const auto all = session.aggregations(clear);
  REQUIRE(all.size() == 1);
  return all[0].values[0];
}

}  // namespace

TEST_CASE("clauses that only count leave it to the host") {
  CountingHost host;
  Program p;
  p.aggregations.resize(1);
  p.clauses.push_back(clause(0, kCountOnce, false));
  p.clauses.push_back(clause(0, {{Op::kLoad, 0, 0, 0, 3}, {Op::kAgg, 0, 0, 0, 0}}, false));
  auto session = opened(p, host);
  REQUIRE(session->begin());
  CHECK(host.enabled_[0] == 0);
  CHECK(host.counting_[0] == 1);
  CHECK(session->aggregations().empty());
  for (int i = 0; i < 10; ++i) host.fire(*session, 0);
  CHECK(only_value(*session) == 40);  // the second clause counts each three times
  host.fire(*session, 0);
  CHECK(only_value(*session, {0}) == 44);
  CHECK(session->aggregations().empty());
  host.fire(*session, 0);
  session->end();
  CHECK(host.counting_[0] == 0);
  host.fire(*session, 0);
  CHECK(only_value(*session) == 4);
  CHECK(session->rings().empty());
}

TEST_CASE("what is taken in so often is what single firings would have come to") {
  for (const auto how : {Aggregating::kCount, Aggregating::kSum, Aggregating::kAvg, Aggregating::kMin,
                         Aggregating::kMax, Aggregating::kStddev, Aggregating::kQuantize}) {
    Program p;
    p.aggregations.resize(1);
    p.aggregations[0].how = how;
    p.clauses.push_back(
        clause(1, {{Op::kLoad, 0, 0, 0, -7}, {Op::kLoad, 1, 0, 0, 1}, {Op::kKeyi, 1}, {Op::kAgg, 0, 1, 0, 0}},
               false));
    CountingHost counting;
    TestHost single;
    auto counted = opened(p, counting), run = opened(p, single);
    REQUIRE((counted->begin() && run->begin()));
    for (int i = 0; i < 5; ++i) {
      counting.fire(*counted, 1);
      single.fire(*run, 1);
      const auto a = counted->aggregations(), b = run->aggregations();
      REQUIRE((a.size() == 1 && b.size() == 1));
      CHECK(a[0].key == b[0].key);
      CHECK(a[0].values == b[0].values);
    }
    CHECK(counting.enabled_[1] == 0);
  }
}

TEST_CASE("what needs more than the number of firings runs at each of them") {
  const std::vector<Instruction> by_argument = {
      {Op::kLoad, 0, 0, 0, 1}, {Op::kKeyarg, 0, 0, 0, 0}, {Op::kAgg, 0, 0, 0, 0}};
  const std::vector<Instruction> exits = {{Op::kLoad, 0, 0, 0, 1}, {Op::kExit, 0}};
  const auto counted = [](const Program& p) {
    CountingHost host;
    auto session = opened(p, host);
    REQUIRE(session->begin());
    CHECK(host.enabled_[0] + host.counting_[0] == 1);
    return host.counting_[0] == 1;
  };
  Program p;
  p.aggregations.resize(1);
  p.clauses.push_back(clause(0, kCountOnce, false));
  CHECK(counted(p));
  Program q = p;
  q.clauses[0].makes_record = true;
  CHECK_FALSE(counted(q));
  q = p;
  q.clauses[0].predicate = {{Op::kLoad, 0, 0, 0, 1}, {Op::kRet}};
  CHECK_FALSE(counted(q));
  q = p;
  q.options.policy = Options::Policy::kFill;
  CHECK_FALSE(counted(q));
  q = p;
  q.clauses.push_back(clause(0, by_argument, false));  // the same probe
  CHECK_FALSE(counted(q));
  q = p;
  q.clauses.push_back(clause(1, by_argument, false));  // another one
  CHECK(counted(q));
  q = p;
  q.clauses.push_back(clause(1, exits));
  CHECK_FALSE(counted(q));
  q = p;
  q.clauses.push_back(clause(kEndProbe, exits));
  CHECK(counted(q));
}

TEST_CASE("nothing counts after a tick that exits") {
  CountingHost host;
  Program p;
  p.aggregations.resize(1);
  p.timers.push_back({"tick-1ms", 1'000'000, false});
  p.clauses.push_back(clause(0, kCountOnce, false));
  p.clauses.push_back(clause(kFirstTimerProbe, {{Op::kLoad, 0, 0, 0, 1}, {Op::kExit, 0}}));
  auto session = opened(p, host);
  REQUIRE(session->begin());
  host.fire(*session, 0);
  while (session->next_tick() != 0) session->tick();
  host.fire(*session, 0);
  CHECK(host.counting_[0] == 0);
  CHECK(only_value(*session) == 1);
}

TEST_CASE("a fault makes a record of itself and fires ERROR; the rest of the clause does not run") {
  TestHost host;
  Program p;
  p.actions.resize(3);
  p.clauses.push_back(clause(
      0,
      {{Op::kBegin, 0, 0, 0, 0}, {Op::kLoad, 0, 0, 0, 0}, {Op::kSdiv, 1, 0, 0}, {Op::kBegin, 0, 0, 0, 1}}));
  p.clauses.push_back(clause(kErrorProbe, {{Op::kBegin, 0, 0, 0, 2},
                                           {Op::kArg, 0, 0, 0, 3},
                                           {Op::kArg, 1, 0, 0, 4},
                                           {Op::kFi, 0},
                                           {Op::kFi, 1}}));
  auto session = opened(p, host);
  REQUIRE(session->begin());
  host.fire(*session, 0);
  const auto all = records(*session);
  REQUIRE(all.size() == 2);
  CHECK(all[0].head.flags == kRecordFault);
  CHECK(all[0] ==
        std::vector<std::uint64_t>{0, 1, 2, static_cast<std::uint64_t>(FaultKind::kDivideByZero), 0});
  CHECK(all[1].head.clause == 1);
  CHECK(all[1] == std::vector<std::uint64_t>{2, 2, static_cast<std::uint64_t>(FaultKind::kDivideByZero)});
}

TEST_CASE("ticks are due after their interval") {
  TestHost host;
  Program p;
  p.timers.push_back({"tick-1ms", 1'000'000, false});
  p.clauses.push_back(clause(kFirstTimerProbe, {}));
  auto session = opened(p, host);
  CHECK(session->next_tick() == 0);
  REQUIRE(session->begin());
  const auto due = session->next_tick();
  CHECK(due != 0);
  while (session->next_tick() == due) session->tick();
  CHECK(session->next_tick() > due);
  CHECK(records(*session).size() == 1);
}

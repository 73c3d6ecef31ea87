// SPDX-License-Identifier: Apache-2.0
#include "probes/engine/script_variables.hpp"

#include <catch2/catch.hpp>

#include <thread>

#include "test/unit/engine/support.hpp"

using namespace vmrun::d;
using namespace vmrun::d::test;

namespace {

using Got = DynamicVariables::Got;

std::uint64_t got(DynamicVariables& d, std::uint32_t variable, std::vector<std::uint64_t> key) {
  std::uint64_t value = 0;
  return d.get(variable, key.data(), key.size(), &value) == Got::kValue ? value : 0;
}

bool put(DynamicVariables& d, std::uint32_t variable, std::vector<std::uint64_t> key, std::uint64_t value) {
  return d.put(variable, key.data(), key.size(), &value, 8);
}

}  // namespace

TEST_CASE("global texts and structures are there from the start; a text may be NULL later") {
  Globals g;
  g.open({{"n", Scope::kGlobal},
          {"t", Scope::kGlobal, false, 8, true, true},
          {"s", Scope::kGlobal, false, 12, true}});
  char out[16] = {};
  CHECK(g.integer(0) == 0);
  g.set_integer(0, 7);
  CHECK(g.integer(0) == 7);
  CHECK(g.read(1, out) == Globals::Got::kValue);
  CHECK(std::string(out).empty());
  CHECK(g.write(1, "hello", 5));
  CHECK(g.read(1, out) == Globals::Got::kValue);
  CHECK(std::string(out) == "hello");
  CHECK(g.write(1, "much too long", 13));
  CHECK(g.read(1, out) == Globals::Got::kValue);
  CHECK(std::string(out, 8) == "much too");
  CHECK(g.write(1, nullptr, 0));
  CHECK(g.read(1, out) == Globals::Got::kNull);
  CHECK(g.read(2, out) == Globals::Got::kValue);
  CHECK(g.integer(0) == 7);
}

TEST_CASE("elements are stored, found and given back") {
  const std::vector<Variable> variables = {{"a", Scope::kGlobal, true}, {"s", Scope::kSelf}};
  DynamicVariables d;
  REQUIRE(d.open(variables, 65536));
  CHECK(got(d, 0, {1, 2}) == 0);
  CHECK(put(d, 0, {1, 2}, 5));
  CHECK(put(d, 0, {1, 3}, 6));
  CHECK(put(d, 0, {1}, 7));
  CHECK(put(d, 1, {1}, 8));
  CHECK(got(d, 0, {1, 2}) == 5);
  CHECK(got(d, 0, {1, 3}) == 6);
  CHECK(got(d, 0, {1}) == 7);
  CHECK(got(d, 1, {1}) == 8);
  CHECK(put(d, 0, {1, 2}, 50));
  CHECK(got(d, 0, {1, 2}) == 50);
  const std::uint64_t key[] = {1, 2};
  d.erase(0, key, 2);
  CHECK(got(d, 0, {1, 2}) == 0);
  CHECK(got(d, 0, {1, 3}) == 6);
}

TEST_CASE("memory is bounded, and what is given back is used again") {
  const std::vector<Variable> variables = {{"a", Scope::kGlobal, true}};
  DynamicVariables d;
  REQUIRE(d.open(variables, 16384));
  for (int round = 0; round < 5; ++round) {
    std::uint64_t n = 0;
    while (put(d, 0, {n}, n + 1)) ++n;
    CHECK(n == 512);
    for (std::uint64_t i = 0; i < n; ++i) CHECK(got(d, 0, {i}) == i + 1);
    for (std::uint64_t i = 0; i < n; ++i) d.erase(0, &i, 1);
  }
  // Long keys have a size of their own.
  std::vector<std::uint64_t> key(16000);
  CHECK_FALSE(put(d, 0, key, 1));
}

TEST_CASE("a process's variables go when it ends, those of others stay") {
  const std::vector<Variable> variables = {{"s", Scope::kSelf},
                                           {"t", Scope::kSelf, false, 16, true, true},
                                           {"a", Scope::kSelf, true},
                                           {"g", Scope::kGlobal, true}};
  DynamicVariables d;
  REQUIRE(d.open(variables, 65536));
  for (std::uint64_t self = 1; self <= 3; ++self) {
    const std::uint64_t key[] = {self, 9};
    CHECK(put(d, 0, {self}, 10));
    CHECK(d.put(1, key, 1, "text", 4));
    CHECK(put(d, 2, {self, 9}, 11));
    CHECK(put(d, 3, {self, 9}, 12));
  }
  d.forget_self(2);
  CHECK(got(d, 0, {2}) == 0);
  char out[16];
  const std::uint64_t two = 2, three = 3;
  CHECK(d.get(1, &two, 1, out) == Got::kNone);
  CHECK(d.get(1, &three, 1, out) == Got::kValue);
  CHECK(std::string(out) == "text");
  d.sweep();
  CHECK(got(d, 2, {2, 9}) == 0);
  CHECK(got(d, 2, {3, 9}) == 11);
  CHECK(got(d, 3, {2, 9}) == 12);
  CHECK(got(d, 0, {1}) == 10);
}

TEST_CASE("a chain that is held is in the way of nobody but those who want the same") {
  std::atomic<std::uint32_t> heads[2] = {7, 8};
  {
    LockedChain held(heads[0]);
    REQUIRE(held);
    CHECK(held.first == 7);
    held.first = 9;
    CHECK_FALSE(LockedChain(heads[0]));
    LockedChain other(heads[1]);
    CHECK(other);
    CHECK(other.first == 8);
  }
  CHECK(heads[0] == 9);
  CHECK(heads[1] == 8);
  CHECK(LockedChain(heads[0]));
}

TEST_CASE("threads change elements side by side") {
  const std::vector<Variable> variables = {{"a", Scope::kGlobal, true}, {"s", Scope::kSelf}};
  DynamicVariables d;
  REQUIRE(d.open(variables, 1 << 20));
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (std::uint64_t number = 0; number < 4; ++number)
    threads.emplace_back([&, number] {
      for (std::uint64_t i = 0; i < 20000; ++i) {
        const std::uint64_t key[] = {number, i % 50};
        // A lock whose holder lost its core is given up on: no value then, never a wrong one.
        put(d, 0, {i % 20}, i + 1);  // of all threads: any value is fine
        if (got(d, 0, {i % 20}) > 20000) ++wrong;
        const std::uint64_t own = number * 100 + i % 50;
        if (put(d, 1, {own}, i + 1))
          if (const auto value = got(d, 1, {own}); value != 0 && value != i + 1) ++wrong;
        if (i % 3 == 0) d.forget_self(number * 100 + i % 50);
        if (i % 7 == 0) d.erase(0, key + 1, 1);
      }
    });
  for (auto& t : threads) t.join();
  CHECK(wrong == 0);
  // Nothing of the room was lost on the way.
  for (std::uint64_t i = 0; i < 400; ++i) {
    CHECK(put(d, 1, {i}, i + 7));
    CHECK(got(d, 1, {i}) == i + 7);
  }
}

TEST_CASE("scripts use them") {
  TestHost host;
  Program p;
  p.actions.resize(1);
  p.variables = {{"n", Scope::kGlobal},
                 {"t", Scope::kGlobal, false, 16, true, true},
                 {"s", Scope::kSelf},
                 {"a", Scope::kGlobal, true},
                 {"sa", Scope::kSelf, true, 16, true, true}};
  const auto hi = text(p, "hi");
  p.clauses = {clause(0, {{Op::kBegin},
                          // n += 1, and through its address
                          {Op::kLoad, 1, 0, 0, 1},
                          {Op::kLdg, 0, 0, 0, 0},
                          {Op::kAdd, 0, 0, 1},
                          {Op::kStg, 0, 0, 0, 0},
                          {Op::kAddrg, 2, 0, 0, 0},
                          {Op::kLd, 3, 2, 4},
                          {Op::kFi, 3},
                          // t, and then "hi"
                          {Op::kLdg, 4, 0, 0, 1},
                          {Op::kFs, 4},
                          {Op::kText, 5, 0, 0, hi},
                          {Op::kStg, 5, 0, 0, 1},
                          // self->s, a["hi", n], self->sa[n]
                          {Op::kLdt, 6, 0, 0, 2},
                          {Op::kFi, 6},
                          {Op::kStt, 0, 0, 0, 2},
                          {Op::kKeys, 5},
                          {Op::kKeyi, 1},
                          {Op::kLda, 7, 0, 0, 3},
                          {Op::kFi, 7},
                          {Op::kKeys, 5},
                          {Op::kKeyi, 1},
                          {Op::kSta, 0, 0, 0, 3},
                          {Op::kKeyi, 1},
                          {Op::kLdta, 8, 0, 0, 4},
                          {Op::kFs, 8},
                          {Op::kKeyi, 1},
                          {Op::kStta, 5, 0, 0, 4}})};
  auto session = opened(p, host);
  session->begin();
  host.fire(*session, 0);
  host.fire(*session, 0);
  host.self_ = 2;
  host.fire(*session, 0);
  session->forget_self(1);
  session->aggregations();
  host.self_ = 1;
  host.fire(*session, 0);
  const auto all = records(*session);
  REQUIRE(all.size() == 4);
  const auto null = static_cast<std::uint64_t>(Encoding::kNull);
  const auto shown = encoded(Encoding::kText, "hi");
  CHECK(all[0].words ==
        std::vector<std::uint64_t>{0, 1, static_cast<std::uint64_t>(Encoding::kText), 0, 0, null});
  CHECK(all[1].words == std::vector<std::uint64_t>{0, 2, shown[0], shown[1], 1, 1, shown[0], shown[1]});
  CHECK(all[2].words == std::vector<std::uint64_t>{0, 3, shown[0], shown[1], 0, 2, null});
  CHECK(all[3].words == std::vector<std::uint64_t>{0, 4, shown[0], shown[1], 0, 3, null});
}

TEST_CASE("variables that do not fit are dropped and counted") {
  TestHost host;
  Program p;
  p.variables = {{"a", Scope::kGlobal, true}};
  p.options.dynvarsize = 1024;
  p.clauses = {
      clause(0, {{Op::kArg, 0, 0, 0, 0}, {Op::kKeyi, 0}, {Op::kLoad, 1, 0, 0, 1}, {Op::kSta, 1}}, false)};
  auto session = opened(p, host);
  session->begin();
  for (std::uint64_t i = 0; i < 100; ++i) host.fire(*session, 0, {i});
  CHECK(session->drops(Drop::kDynamic) == 100 - 32);
}

// SPDX-License-Identifier: Apache-2.0
#include "probes/engine/speculation.hpp"

#include <catch2/catch.hpp>

#include "test/unit/engine/support.hpp"

using namespace vmrun::d;
using namespace vmrun::d::test;

namespace {

// 0: spec, kept in a global; 1: a record to it; 2: commit; 3: discard.
Program speculating() {
  Program p;
  p.actions.resize(1);
  p.variables = {{"id", Scope::kGlobal}};
  p.options.specsize = 100;
  p.clauses = {clause(0, {{Op::kSpec, 0}, {Op::kStg, 0}}, false),
               clause(1, {{Op::kLdg, 0}, {Op::kSpecto, 0}, {Op::kBegin}, {Op::kArg, 1}, {Op::kFi, 1}}),
               clause(2, {{Op::kLdg, 0}, {Op::kCommit, 0}}, false),
               clause(3, {{Op::kLdg, 0}, {Op::kDiscard, 0}}, false)};
  return p;
}

}  // namespace

TEST_CASE("records wait until they are committed") {
  TestHost host;
  auto session = opened(speculating(), host);
  session->begin();
  host.fire(*session, 0);
  host.fire(*session, 1, {5});
  host.fire(*session, 1, {6});
  CHECK(records(*session).empty());
  host.fire(*session, 2);
  const auto all = records(*session);
  REQUIRE(all.size() == 2);
  CHECK(all[0].words == std::vector<std::uint64_t>{0, 5});
  CHECK(all[1].words == std::vector<std::uint64_t>{0, 6});
  host.fire(*session, 1, {7});  // it is over
  host.fire(*session, 2);
  CHECK(records(*session).empty());
  CHECK(session->drops(Drop::kSpeculation) == 0);
}

TEST_CASE("what is discarded is gone, and the speculation is free again") {
  TestHost host;
  auto session = opened(speculating(), host);
  session->begin();
  host.fire(*session, 0);
  host.fire(*session, 1, {5});
  host.fire(*session, 3);
  host.fire(*session, 0);
  host.fire(*session, 1, {6});
  host.fire(*session, 2);
  const auto all = records(*session);
  REQUIRE(all.size() == 1);
  CHECK(all[0].words == std::vector<std::uint64_t>{0, 6});
}

TEST_CASE("what does not fit, and that there is none free, is counted") {
  TestHost host;
  auto session = opened(speculating(), host);
  session->begin();
  host.fire(*session, 0);
  for (std::uint64_t i = 0; i < 4; ++i) host.fire(*session, 1, {i});  // 40 bytes each
  CHECK(session->drops(Drop::kSpeculation) == 2);
  host.fire(*session, 0);
  CHECK(session->drops(Drop::kSpeculationUnavailable) == 1);
  host.fire(*session, 1, {1});  // to speculation 0: nothing
  CHECK(records(*session).empty());
}

TEST_CASE("numbers of no speculation do nothing") {
  Speculations s;
  REQUIRE(s.open(2, 1000));
  auto ring = Ring::make(1024, 0, 0, Options::Policy::kSwitch);
  const std::uint64_t record[3] = {24};
  for (const std::uint64_t number :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{3}, ~std::uint64_t{0}}) {
    CHECK(s.add(number, record, 3) == Speculations::Result::kNone);
    CHECK(s.commit(number, *ring) == Speculations::Result::kNone);
    CHECK(s.discard(number) == Speculations::Result::kNone);
  }
  CHECK(s.start() == 1);
  CHECK(s.start() == 2);
  CHECK(s.start() == 0);
}

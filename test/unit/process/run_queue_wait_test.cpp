// SPDX-License-Identifier: Apache-2.0
// Waits on run queues as the probes tell them: each begins once and ends once.
#include "vm/sched/run_queue_wait.hpp"

#include <catch2/catch.hpp>

#include <optional>

#include "test/unit/probes/fired.hpp"

using namespace vmrun;

TEST_CASE("a wait is told of when it begins and when it ends") {
  if (!probe::kCompiledIn) return;
  Fired fired{"process__runnable", "process__running"};
  Process p;
  p.id = Term::small(7);
  p.priority = 2;
  begin_wait(p, QueueOf::kDirtyIo);
  auto firings = fired.take();
  REQUIRE(firings.size() == 1);
  CHECK(firings[0].probe == "process__runnable");
  CHECK(firings[0].words == std::vector<std::uint64_t>{p.id.raw(), 2, 2});

  const Word least = p.runnable_since -= 5000;  // as if it had come earlier
  end_wait(p, QueueOf::kDirtyIo);
  firings = fired.take();
  REQUIRE(firings.size() == 1);
  CHECK(firings[0].probe == "process__running");
  CHECK(firings[0].words[0] == p.id.raw());
  CHECK(firings[0].words[1] >= 5000);
  CHECK(firings[0].words[1] < least);
  CHECK(firings[0].words[2] == 2);
  CHECK(p.observed == 0);

  end_wait(p, QueueOf::kDirtyIo);
  CHECK(fired.take().empty());
}

TEST_CASE("a wait that begins or ends while nobody looks is told of by neither half") {
  if (!probe::kCompiledIn) return;
  Process p;
  begin_wait(p, QueueOf::kScheduler);
  CHECK(p.observed == 0);
  std::optional<Fired> fired{std::in_place, std::initializer_list<const char*>{"process__running"}};
  end_wait(p, QueueOf::kScheduler);
  CHECK(fired->take().empty());

  begin_wait(p, QueueOf::kScheduler);  // one of the two is enough
  CHECK(p.observed == kWaitObserved);
  CHECK(fired->take().empty());
  fired.reset();
  end_wait(p, QueueOf::kScheduler);
  CHECK(p.observed == 0);
  fired.emplace(std::initializer_list<const char*>{"process__running"});
  end_wait(p, QueueOf::kScheduler);
  CHECK(fired->take().empty());
}

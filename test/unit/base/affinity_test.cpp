// SPDX-License-Identifier: Apache-2.0
#include "vm/base/affinity.hpp"

#include <catch2/catch.hpp>
#include <thread>

#include "vm/base/thread.hpp"

using namespace vmrun;

namespace {

int some_processor(const ProcessorSet& set) {
  int logical = 0;
  while (!set.has(logical)) ++logical;
  return logical;
}

unsigned own_processors() { return ProcessorSet::of_thread(0)->size(); }

}  // namespace

TEST_CASE("a thread is bound to one processor, and no thread or child that it starts") {
  const ProcessorSet program = *ProcessorSet::of_program();
  const int logical = some_processor(program);
  unsigned before = 0, bound = 0, without = 0, after = 0, of_started = 0;
  bool has_it = false;
  std::thread([&] {
    before = own_processors();
    if (!bind_thread(pthread_self(), logical)) return;
    bound = own_processors();
    has_it = ProcessorSet::of_thread(0)->has(logical);
    start_thread("started", [&] { of_started = own_processors(); }).join();
    {
      const WithoutBinding any_processor;
      without = own_processors();
    }
    after = own_processors();
  }).join();
  CHECK(before == program.size());
  CHECK(bound == 1);
  CHECK(has_it);
  CHECK(of_started == program.size());
  CHECK(without == program.size());
  CHECK(after == 1);
}

TEST_CASE("a thread gets all processors back") {
  const ProcessorSet program = *ProcessorSet::of_program();
  unsigned bound = 0, after = 0;
  std::thread([&] {
    bind_thread(pthread_self(), some_processor(program));
    bound = own_processors();
    bind_thread(pthread_self(), -1);
    after = own_processors();
  }).join();
  CHECK(bound == 1);
  CHECK(after == program.size());
}

TEST_CASE("a thread is not bound to a processor that the program may not use") {
  CHECK(!bind_thread(pthread_self(), 65535));
  CHECK(own_processors() == ProcessorSet::of_program()->size());
}

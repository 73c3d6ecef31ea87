// SPDX-License-Identifier: Apache-2.0
#include "vm/port/term_input.hpp"

#include <atomic>

#include "vm/trace/trace_upcalls.hpp"

namespace vmrun {
namespace {

// Schedulers count in separate cache lines, so that they do not wait for each other.
struct alignas(64) Counter {
  std::atomic<Word> bytes{0};
};
constexpr unsigned kCounters = 64;
Counter counters[kCounters];

}  // namespace

void count_term_input(Word bytes) {
  counters[trace_upcalls.scheduler_number() % kCounters].bytes.fetch_add(bytes, std::memory_order_relaxed);
}

Word term_input() {
  Word sum = 0;
  for (const Counter& c : counters) sum += c.bytes.load(std::memory_order_relaxed);
  return sum;
}

}  // namespace vmrun

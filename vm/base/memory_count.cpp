// SPDX-License-Identifier: Apache-2.0
#include "vm/base/memory_count.hpp"

#include <mutex>

namespace vmrun {

thread_local constinit MemoryCounts* memory_counts = nullptr;

namespace {

std::mutex mutex;
MemoryCounts* all = nullptr;

/// Gives the record back when the thread ends; the next new thread goes on with it.
struct Release {
  bool armed = false;
  ~Release() {
    if (!armed) return;
    std::lock_guard lock(mutex);
    memory_counts->taken = false;
    memory_counts = nullptr;
  }
};
thread_local Release release;

}  // namespace

MemoryCounts& take_memory_counts() {
  std::lock_guard lock(mutex);
  MemoryCounts* mine = all;
  while (mine && mine->taken) mine = mine->next;
  if (mine) {
    mine->taken = true;
  } else {
    mine = new MemoryCounts;
    mine->next = all;
    all = mine;
  }
  memory_counts = mine;
  release.armed = true;
  return *mine;
}

std::size_t memory_counted(MemoryKind kind) {
  std::lock_guard lock(mutex);
  std::int64_t sum = 0;
  for (const MemoryCounts* c = all; c; c = c->next)
    sum += c->counts[static_cast<std::size_t>(kind)].load(std::memory_order_relaxed);
  return sum < 0 ? 0 : static_cast<std::size_t>(sum);
}

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#include "vm/process/process_table.hpp"

#include <mutex>
#include <new>

#include "vm/base/allocate.hpp"
#include "vm/base/small_limits.hpp"
#include "vm/base/spin_lock.hpp"
#include "vm/process/core.hpp"
#include "vm/process/process_state.hpp"

namespace vmrun {

ProcessTable process_table;

namespace {

constexpr unsigned kPerSlab = usual_or_small<unsigned>(64, 2), kKeepFree = usual_or_small<unsigned>(1024, 4);

struct SharedPool {
  SpinLock lock;
  Process* batches = nullptr;  // lists of kKeepFree / 2, linked through the word `parent` of their heads
};
SharedPool shared_pool;

Process* new_slab() {
  auto* slab = static_cast<Process*>(allocate_bytes(sizeof(Process) * kPerSlab, "processes"));
  for (unsigned i = 0; i < kPerSlab; ++i) slab[i].next_in_queue = i + 1 < kPerSlab ? &slab[i + 1] : nullptr;
  return slab;
}

Process*& batch_link(Process* head) { return *reinterpret_cast<Process**>(&head->parent); }

void refill(Core& s) {
  {
    std::lock_guard guard(shared_pool.lock);
    if (Process* batch = shared_pool.batches) {
      shared_pool.batches = batch_link(batch);
      s.free_processes = batch;
      s.free_process_count = kKeepFree / 2;
      return;
    }
  }
  s.free_processes = new_slab();
  s.free_process_count = kPerSlab;
}

/// Moves half of the free structures to the shared pool, for schedulers on which more processes
/// start than end.
void share_surplus(Core& s) {
  Process* head = s.free_processes;
  Process* last = head;
  for (unsigned i = 1; i < kKeepFree / 2; ++i) last = last->next_in_queue;
  s.free_processes = last->next_in_queue;
  last->next_in_queue = nullptr;
  s.free_process_count -= kKeepFree / 2;
  std::lock_guard guard(shared_pool.lock);
  batch_link(head) = shared_pool.batches;
  shared_pool.batches = head;
}

SpinLock outside_lock;
Process* outside_free = nullptr;  // for threads that are not schedulers (boot, tests)

}  // namespace

Process* allocate_process() {
  Process* p;
  if (Core* s = this_core()) [[likely]] {
    if (!s->free_processes) [[unlikely]]
      refill(*s);
    p = s->free_processes;
    s->free_processes = p->next_in_queue;
    --s->free_process_count;
  } else {
    std::lock_guard guard(outside_lock);
    if (!outside_free) outside_free = new_slab();
    p = outside_free;
    outside_free = p->next_in_queue;
  }
  return new (p) Process;
}

void recycle_process(Process* p) {
  if (Core* s = this_core()) [[likely]] {
    p->next_in_queue = s->free_processes;
    s->free_processes = p;
    if (++s->free_process_count > kKeepFree) [[unlikely]]
      share_surplus(*s);
  } else {
    std::lock_guard guard(outside_lock);
    p->next_in_queue = outside_free;
    outside_free = p;
  }
}

}  // namespace vmrun

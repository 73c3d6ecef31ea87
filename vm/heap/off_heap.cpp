// SPDX-License-Identifier: Apache-2.0
#include "vm/heap/off_heap.hpp"

#include "vm/heap/heap_upcalls.hpp"
#include "vm/probes/fire.hpp"

/// What probes say of binaries.
namespace vmrun {
namespace {

std::int64_t id_of(const Binary& b) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(&b));
}
std::int64_t shown(Word number) { return static_cast<std::int64_t>(number); }

}  // namespace

void fire_allocated(const Binary& b) {
  probe::fire_binary_alloc(heap_upcalls.current_process_id(), id_of(b), shown(b.capacity_bytes));
}

void fire_resized(const Binary& b, Word old_id, Word old_bytes) {
  probe::fire_binary_resize(heap_upcalls.current_process_id(), id_of(b), shown(old_id),
                            shown(b.capacity_bytes), shown(old_bytes));
}

void fire_released(const Binary& b) {
  probe::fire_binary_release(heap_upcalls.current_process_id(), id_of(b), shown(b.capacity_bytes));
}

void fire_received(Term pid, const OffHeapObject* list) {
  for (; list; list = list->next) {
    if (list->header.header_sub() != Term::Sub::kRefcBinary) continue;
    const Binary& b = *reinterpret_cast<const RefcBinary*>(list)->binary;
    probe::fire_binary_receive(pid, id_of(b), shown(b.capacity_bytes));
  }
}

}  // namespace vmrun

#include <cstddef>
#include <new>

#include "vm/base/allocate.hpp"
#include "vm/base/memory_count.hpp"
#include "vm/term/layout.hpp"
#include "vm/term/resource_hooks.hpp"

namespace vmrun {
namespace {

constexpr Word kBinaryMaxBytes = Word{1} << 48;

std::size_t allocation_bytes(Word capacity_bytes) {
  return offsetof(Binary, data) +
         (capacity_bytes < sizeof(Binary::data) ? sizeof(Binary::data) : capacity_bytes);
}

}  // namespace

constinit ResourceHooks resource_hooks;

Binary* Binary::create(Word capacity_bytes) {
  if (capacity_bytes > kBinaryMaxBytes) return nullptr;
  void* memory = try_allocate_bytes(allocation_bytes(capacity_bytes));
  if (!memory) return nullptr;
  count_memory_taken(MemoryKind::kBinaries, allocation_bytes(capacity_bytes));
  auto* b = new (memory) Binary;
  b->references.store(1, std::memory_order_relaxed);
  b->capacity_bytes = capacity_bytes;
  b->used_bytes = capacity_bytes;
  return b;
}

Binary* Binary::resize(Binary* b, Word capacity_bytes) {
  assert(b->references.load(std::memory_order_relaxed) == 1);
  if (capacity_bytes > kBinaryMaxBytes) return nullptr;
  const std::size_t before = allocation_bytes(b->capacity_bytes);
  auto* moved = static_cast<Binary*>(try_reallocate_bytes(b, allocation_bytes(capacity_bytes)));
  if (!moved) return nullptr;
  count_memory_given(MemoryKind::kBinaries, before);
  count_memory_taken(MemoryKind::kBinaries, allocation_bytes(capacity_bytes));
  moved->capacity_bytes = capacity_bytes;
  return moved;
}

void Binary::release() {
  // Release order lets every owner's last reads happen before the free; the acquire side sees them
  // (same counter).
  if (references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (is_native()) [[unlikely]]
    return resource_hooks.destroy(this);
  count_memory_given(MemoryKind::kBinaries, allocation_bytes(capacity_bytes));
  free_bytes(this);
}

}  // namespace vmrun

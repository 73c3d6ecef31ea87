// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>

#include "probes/probes.hpp"
#include "vm/base/allocate.hpp"
#include "vm/base/mapped_memory.hpp"
#include "vm/base/memory_count.hpp"
#include "vm/term/layout.hpp"
#include "vm/term/term_upcalls.hpp"

namespace vmrun {
namespace {

constexpr Word kBinaryMaxBytes = Word{1} << 48;

std::size_t allocation_bytes(Word capacity_bytes) {
  return offsetof(Binary, data) +
         (capacity_bytes < sizeof(Binary::data) ? sizeof(Binary::data) : capacity_bytes);
}

void give_back(void* memory, std::size_t bytes) {
  if (bytes < kMappedBytes) free_bytes(memory);
  else unmap(memory, bytes);
}

void* take(std::size_t bytes) { return bytes < kMappedBytes ? try_allocate_bytes(bytes) : try_map(bytes); }

/// Changes the size of a block that may be mapped. Keeps the contents up to the smaller size.
/// Returns nullptr when there is no memory.
void* take_instead(void* memory, std::size_t before, std::size_t bytes) {
  const bool was_mapped = before >= kMappedBytes, is_mapped = bytes >= kMappedBytes;
  if (was_mapped && is_mapped) return try_remap(memory, before, bytes);
  if (!was_mapped && !is_mapped) return try_reallocate_bytes(memory, bytes);
  void* moved = take(bytes);
  if (!moved) return nullptr;
  std::memcpy(moved, memory, std::min(before, bytes));
  give_back(memory, before);
  return moved;
}

}  // namespace

Binary* Binary::reserve(Binary* b, Word capacity_bytes) {
  if (capacity_bytes > kBinaryMaxBytes) return nullptr;
  const Word before = b ? allocation_bytes(b->capacity_bytes) : 0, bytes = allocation_bytes(capacity_bytes);
  void* memory = b ? take_instead(b, before, bytes) : take(bytes);
  if (!memory) return nullptr;
  count_memory(MemoryKind::kBinaries, static_cast<std::int64_t>(bytes - before));
  if (b) {
    b = static_cast<Binary*>(memory);
  } else {
    b = new (memory) Binary;
    b->references.store(1, std::memory_order_relaxed);
  }
  b->capacity_bytes = b->used_bytes = capacity_bytes;
  return b;
}

void Binary::announce() {
  if (probe::binary_alloc_enabled()) [[unlikely]]
    term_upcalls.binary_allocated(*this);
}

void Binary::drop_reserved(Binary* b) {
  const std::size_t bytes = allocation_bytes(b->capacity_bytes);
  count_memory_given(MemoryKind::kBinaries, bytes);
  give_back(b, bytes);
}

Binary* Binary::create(Word capacity_bytes) {
  Binary* b = reserve(nullptr, capacity_bytes);
  if (b) b->announce();
  return b;
}

Binary* Binary::resize(Binary* b, Word capacity_bytes) {
  assert(b->references.load(std::memory_order_relaxed) == 1);
  const Word before = b->capacity_bytes, used = b->used_bytes;
  const Word old_id = reinterpret_cast<Word>(b);
  Binary* moved = reserve(b, capacity_bytes);
  if (!moved) return nullptr;
  moved->used_bytes = used;
  if (probe::binary_resize_enabled()) [[unlikely]]
    term_upcalls.binary_resized(*moved, old_id, before);
  return moved;
}

void Binary::release() {
  // Release: every owner's last reads happen before the free. Acquire: the thread that frees sees
  // them (same counter).
  if (references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (is_native()) [[unlikely]]
    return term_upcalls.destroy_resource(this);
  if (probe::binary_release_enabled()) [[unlikely]]
    term_upcalls.binary_released(*this);
  drop_reserved(this);
}

}  // namespace vmrun

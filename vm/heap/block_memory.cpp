// SPDX-License-Identifier: Apache-2.0
#ifndef VMRUN_MIMALLOC
#include <malloc.h>
#endif

#include <cstring>

#include "vm/base/allocate.hpp"
#include "vm/base/mapped_memory.hpp"
#include "vm/base/memory_count.hpp"
#include "vm/heap/collector.hpp"

// Memory for heap blocks and old generations. Large ones are mapped; smaller ones come from the
// allocator (glibc's is told to keep freed memory).

namespace vmrun {
namespace {

#ifndef VMRUN_MIMALLOC
/// Every collection allocates and frees blocks. By default glibc would give such sizes back to the
/// system each time.
[[maybe_unused]] const bool tuned = [] {
  mallopt(M_MMAP_THRESHOLD, 1 << 22);
  mallopt(M_TRIM_THRESHOLD, 1 << 25);
  mallopt(M_TOP_PAD, 1 << 20);
  return true;
}();
#endif

}  // namespace

Term* allocate_block(Word words) {
  const std::size_t bytes = words * sizeof(Term);
  count_memory_taken(MemoryKind::kHeaps, bytes);
  if (bytes < kMappedBytes) return static_cast<Term*>(allocate_bytes(bytes, "a process heap"));
  void* block = try_map(bytes);
  if (!block) out_of_memory("a process heap", bytes);
  return static_cast<Term*>(block);
}

void free_block(Term* start, Term* end, bool poison) {
  if (!start) return;
  const auto bytes = static_cast<std::size_t>(end - start) * sizeof(Term);
  count_memory_given(MemoryKind::kHeaps, bytes);
  if (poison) std::memset(static_cast<void*>(start), 0x5A, bytes);
  if (bytes < kMappedBytes) free_bytes(start);
  else unmap(start, bytes);
}

}  // namespace vmrun

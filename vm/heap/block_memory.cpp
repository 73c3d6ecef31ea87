#include <sys/mman.h>
#ifndef VMRUN_MIMALLOC
#include <malloc.h>
#endif

#include <cstring>
#include <mutex>

#include "vm/base/allocate.hpp"
#include "vm/base/memory_count.hpp"
#include "vm/heap/collector.hpp"

// Memory for heap blocks and old generations. Blocks of a megabyte and more are mapped directly, on
// huge pages where the system has them: a collection touches a fresh block from one end to the
// other, and faulting it in by small pages costs more than the copying (list of 10 M elements: 309
// ms by small pages, 120 by huge ones). Smaller ones come from the allocator (glibc's is told to
// keep what it gets back).

namespace vmrun {
namespace {

constexpr std::size_t kMappedBytes = std::size_t{1} << 20, kHugePageBytes = std::size_t{1} << 21;

#ifndef VMRUN_MIMALLOC
/// A process's blocks come and go with every collection; by default glibc gives such sizes back to
/// the system each time.
[[maybe_unused]] const bool tuned = [] {
  mallopt(M_MMAP_THRESHOLD, 1 << 22);
  mallopt(M_TRIM_THRESHOLD, 1 << 25);
  mallopt(M_TOP_PAD, 1 << 20);
  return true;
}();
#endif

/// Huge pages start at multiples of their size: so does the mapping, once what lies before and
/// behind is cut off.
void* map_block(std::size_t bytes) {
  const std::size_t room = bytes + kHugePageBytes;
  void* area =
      mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (area == MAP_FAILED) out_of_memory("a process heap", bytes);
  auto* const from = static_cast<char*>(area);
  auto* const block = reinterpret_cast<char*>((reinterpret_cast<std::uintptr_t>(from) + kHugePageBytes - 1) &
                                              ~(kHugePageBytes - 1));
  if (block > from) munmap(from, static_cast<std::size_t>(block - from));
  if (from + room > block + bytes)
    munmap(block + bytes, static_cast<std::size_t>(from + room - (block + bytes)));
  if (bytes >= kHugePageBytes) madvise(block, bytes, MADV_HUGEPAGE);
  return block;
}

/// A few mappings given back lately, so that a process whose heap has found its size gets its pages
/// back instead of fresh ones. Any thread.
class FreeBlocks {
 public:
  void* take(std::size_t bytes) {
    std::lock_guard lock(mutex_);
    Entry* best = nullptr;
    for (Entry& e : entries_) {
      if (e.bytes >= bytes && (!best || e.bytes < best->bytes)) best = &e;
    }
    if (!best) return nullptr;
    char* block = best->block;
    if (best->bytes > bytes) munmap(block + bytes, best->bytes - bytes);
    total_ -= best->bytes;
    *best = {};
    return block;
  }
  /// False: no room.
  bool keep(void* block, std::size_t bytes) {
    std::lock_guard lock(mutex_);
    if (total_ + bytes > kMostBytes) return false;
    for (Entry& e : entries_) {
      if (e.bytes) continue;
      e = {static_cast<char*>(block), bytes};
      total_ += bytes;
      return true;
    }
    return false;
  }

 private:
  struct Entry {
    char* block = nullptr;
    std::size_t bytes = 0;
  };
  static constexpr std::size_t kMostBytes = std::size_t{1} << 24;
  std::mutex mutex_;
  Entry entries_[8];
  std::size_t total_ = 0;
};
constinit FreeBlocks free_blocks;

std::size_t mapped_bytes(std::size_t bytes) { return (bytes + 4095) & ~std::size_t{4095}; }

}  // namespace

Term* allocate_block(Word words) {
  const std::size_t bytes = words * sizeof(Term);
  count_memory_taken(MemoryKind::kHeaps, bytes);
  if (bytes < kMappedBytes) return static_cast<Term*>(allocate_bytes(bytes, "a process heap"));
  if (void* block = free_blocks.take(mapped_bytes(bytes))) return static_cast<Term*>(block);
  return static_cast<Term*>(map_block(mapped_bytes(bytes)));
}

void free_block(Term* start, Term* end, bool poison) {
  if (!start) return;
  const auto bytes = static_cast<std::size_t>(end - start) * sizeof(Term);
  count_memory_given(MemoryKind::kHeaps, bytes);
  if (poison) std::memset(static_cast<void*>(start), 0x5A, bytes);
  if (bytes < kMappedBytes) {
    free_bytes(start);
  } else if (!free_blocks.keep(start, mapped_bytes(bytes))) {
    munmap(start, mapped_bytes(bytes));
  }
}

}  // namespace vmrun

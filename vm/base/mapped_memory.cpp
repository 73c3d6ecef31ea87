// SPDX-License-Identifier: Apache-2.0
#include "vm/base/mapped_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <mutex>
#include <span>
#include <utility>

#include "vm/base/allocate.hpp"
#include "vm/base/word.hpp"

namespace vmrun {
namespace {

constexpr std::size_t kHugePageBytes = std::size_t{1} << 21;

/// Huge pages start at multiples of their size, and so does the mapping once the parts before and
/// behind are cut off.
void* map_fresh(std::size_t bytes) {
  const std::size_t room = bytes + kHugePageBytes;
  void* area =
      mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (area == MAP_FAILED) return nullptr;
  auto* const from = static_cast<char*>(area);
  auto* const block = reinterpret_cast<char*>((reinterpret_cast<std::uintptr_t>(from) + kHugePageBytes - 1) &
                                              ~(kHugePageBytes - 1));
  if (block > from) munmap(from, static_cast<std::size_t>(block - from));
  if (from + room > block + bytes)
    munmap(block + bytes, static_cast<std::size_t>(from + room - (block + bytes)));
  if (bytes >= kHugePageBytes) madvise(block, bytes, MADV_HUGEPAGE);
  return block;
}

/// A few mappings that were given back lately. A caller that takes and gives back the same size in
/// turn, as a heap of a stable size does, gets its old pages instead of fresh ones. Any thread.
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
  /// Those that have been here longest make room for it. Returns false if the block is too large.
  bool keep(void* block, std::size_t bytes) {
    if (bytes > kMostBytes) return false;
    Entry gone[kEntries];
    std::size_t gone_count = 0;
    {
      std::lock_guard lock(mutex_);
      Entry* place = std::ranges::find(entries_, std::size_t{0}, &Entry::bytes);
      while (place == std::end(entries_) || total_ + bytes > kMostBytes) {
        place = std::ranges::min_element(entries_, {},
                                         [](const Entry& e) { return e.bytes ? e.since : ~Word{0}; });
        total_ -= place->bytes;
        gone[gone_count++] = std::exchange(*place, {});
      }
      *place = {static_cast<char*>(block), bytes, ++kept_};
      total_ += bytes;
    }
    for (const Entry& e : std::span(gone, gone_count)) munmap(e.block, e.bytes);
    return true;
  }

 private:
  struct Entry {
    char* block = nullptr;
    std::size_t bytes = 0;
    Word since = 0;  // in the order in which they came
  };
  static constexpr std::size_t kMostBytes = std::size_t{1} << 24, kEntries = 8;
  std::mutex mutex_;
  Entry entries_[kEntries];
  std::size_t total_ = 0;
  Word kept_ = 0;
};
constinit FreeBlocks free_blocks;

}  // namespace

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

void* try_map(std::size_t bytes) {
  if (next_allocation_fails()) return nullptr;
  bytes = rounded_to_pages(bytes);
  if (void* block = free_blocks.take(bytes)) return block;
  return map_fresh(bytes);
}

void* try_remap(void* block, std::size_t bytes, std::size_t new_bytes) {
  if (next_allocation_fails()) return nullptr;
  void* moved = mremap(block, rounded_to_pages(bytes), rounded_to_pages(new_bytes), MREMAP_MAYMOVE);
  return moved == MAP_FAILED ? nullptr : moved;
}

void unmap(void* block, std::size_t bytes) {
  bytes = rounded_to_pages(bytes);
  if (!free_blocks.keep(block, bytes)) munmap(block, bytes);
}

}  // namespace vmrun

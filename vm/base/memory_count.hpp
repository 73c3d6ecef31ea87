// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

/// How much memory of some kinds is in use, for erlang:memory, and what collections have done. Each
/// thread counts what it takes and gives back in a record that it alone writes; a reader adds the
/// records up. So one thread's count may be negative, and a sum is exact when nothing changes
/// meanwhile.
namespace vmrun {

enum class MemoryKind : std::uint8_t {
  kHeaps,           // bytes of blocks and fragments
  kBinaries,        // bytes outside of heaps
  kCollections,     // number of collections
  kReclaimedWords,  // by collections
};
inline constexpr std::size_t kMemoryKinds = 4;

struct alignas(64) MemoryCounts {
  std::atomic<std::int64_t> counts[kMemoryKinds]{};
  MemoryCounts* next = nullptr;  // list of all records that were ever made
  bool taken = true;             // by a living thread
};
/// The calling thread's record; nullptr before its first use.
extern thread_local constinit MemoryCounts* memory_counts;
MemoryCounts& take_memory_counts();

inline void count_memory(MemoryKind kind, std::int64_t more) {
  MemoryCounts* mine = memory_counts;
  if (!mine) [[unlikely]]
    mine = &take_memory_counts();
  std::atomic<std::int64_t>& count = mine->counts[static_cast<std::size_t>(kind)];
  count.store(count.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}
inline void count_memory_taken(MemoryKind kind, std::size_t bytes) {
  count_memory(kind, static_cast<std::int64_t>(bytes));
}
inline void count_memory_given(MemoryKind kind, std::size_t bytes) {
  count_memory(kind, -static_cast<std::int64_t>(bytes));
}

/// Returns the sum over all threads: in use now, or done since the start. Any thread.
std::size_t memory_counted(MemoryKind kind);

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

/// Memory by the megabyte, straight from the system, for heap blocks and binaries. The allocator
/// would keep freed memory, and would not even look for a while at what another thread frees. Here
/// it returns to the system at once, except for a few blocks that are likely to be wanted again.
/// Any thread. The caller that frees a block knows its size.
namespace vmrun {

/// Blocks of this size and larger are mapped; smaller ones come from allocate.hpp.
inline constexpr std::size_t kMappedBytes = std::size_t{1} << 20;

/// Maps a block, on huge pages where the system has them. Page faults on small pages would cost
/// more than filling the block (a collected list of 10 M elements: 309 ms, with huge pages 120).
/// The block is page-aligned and not zeroed. Returns nullptr when there is no memory.
[[nodiscard]] void* try_map(std::size_t bytes);
/// Changes the size of a block. Keeps the contents up to the smaller size and may move them.
/// Returns nullptr, and leaves `block` untouched, when there is no memory.
[[nodiscard]] void* try_remap(void* block, std::size_t bytes, std::size_t new_bytes);
void unmap(void* block, std::size_t bytes);

/// Returns the size of the system's pages, a power of two: 4 KiB on x86-64; 4, 16 or 64 KiB on
/// ARM64, as the kernel was built.
[[nodiscard]] std::size_t page_bytes();
/// Rounds up to whole pages.
[[nodiscard]] inline std::size_t rounded_to_pages(std::size_t bytes) {
  return (bytes + page_bytes() - 1) & ~(page_bytes() - 1);
}

}  // namespace vmrun

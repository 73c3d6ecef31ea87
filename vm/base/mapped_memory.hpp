#pragma once

#include <cstddef>

/// Memory by the megabyte, straight from the system, for heap blocks and binaries. The allocator
/// keeps what it gets back, and what another thread gives back it does not even look at for a
/// while; here it goes back to the system at once, but for a few blocks that are likely to be
/// wanted again. Any thread. Who frees a block knows its size.
namespace vmrun {

/// What is as large is mapped, what is smaller comes from allocate.hpp.
inline constexpr std::size_t kMappedBytes = std::size_t{1} << 20;

/// On huge pages where the system has them: who fills a block from one end to the other would
/// spend more on faulting it in by small ones (a collected list of 10 M elements: 309 ms, by huge
/// ones 120). Page-aligned; not zero. nullptr: there is no memory.
[[nodiscard]] void* try_map(std::size_t bytes);
/// Keeps the contents up to the smaller size; may move. nullptr, and `block` untouched, when there
/// is no memory.
[[nodiscard]] void* try_remap(void* block, std::size_t bytes, std::size_t new_bytes);
void unmap(void* block, std::size_t bytes);

}  // namespace vmrun

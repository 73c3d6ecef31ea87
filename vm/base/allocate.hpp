// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

/// The only place where the machine gets and returns memory: heap blocks, fragments, off-heap
/// binaries, and by operator new its own objects. Any thread may call it. A change of the allocator
/// touches allocate.cpp alone.
namespace vmrun {

/// Never returns nullptr: when memory is exhausted the VM ends with a message that names `what` and
/// the size. The result is 16-byte aligned.
[[nodiscard]] void* allocate_bytes(std::size_t bytes, const char* what);
/// As above, but returns nullptr when there is no memory.
[[nodiscard]] void* try_allocate_bytes(std::size_t bytes);
/// As above; the memory is all zero.
[[nodiscard]] void* try_allocate_zeroed(std::size_t bytes);
/// Changes the size of a block. Keeps the contents up to the smaller size and may move them.
/// Returns nullptr, and leaves `p` untouched, when there is no memory.
[[nodiscard]] void* try_reallocate_bytes(void* p, std::size_t bytes);
void free_bytes(void* p);
/// Returns to the system what the calling thread has freed and still holds. The time grows with all
/// that it holds.
void return_free_memory();

/// Writes "vmrun: out of memory: cannot allocate N bytes for WHAT" to standard error, and a crash
/// dump if the machine runs; then the process ends with status 1. Needs no memory itself.
[[noreturn]] void out_of_memory(const char* what, std::size_t bytes);
/// Reserves address space, if the system gives it, for that crash dump. Called once.
void keep_memory_in_reserve();

/// Stress: the n-th allocation from now on fails as if there were no memory; the others succeed.
/// With 0 none fails.
void fail_allocation(std::uint64_t n);
/// For memory that does not come from this allocator: counts as an allocation, and tells whether it
/// is the one that fails.
[[nodiscard]] bool next_allocation_fails();

}  // namespace vmrun

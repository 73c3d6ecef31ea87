#pragma once

#include <cstddef>
#include <cstdint>

/// The one seam through which the machine gets and returns memory: heap blocks, fragments, off-heap
/// binaries, and by operator new its own objects. Any thread. Changing the allocator means changing
/// allocate.cpp alone.
namespace vmrun {

/// Never returns nullptr: when memory is exhausted the VM ends with a message that names `what` and
/// the size. 16-byte aligned.
[[nodiscard]] void* allocate_bytes(std::size_t bytes, const char* what);
/// As above, but nullptr when there is no memory.
[[nodiscard]] void* try_allocate_bytes(std::size_t bytes);
/// As above, all zero.
[[nodiscard]] void* try_allocate_zeroed(std::size_t bytes);
/// Keeps the contents up to the smaller size; may move. nullptr (and `p` untouched) when there is
/// no memory.
[[nodiscard]] void* try_reallocate_bytes(void* p, std::size_t bytes);
void free_bytes(void* p);
/// Returns to the system what the calling thread has freed and still holds. Takes time for all that
/// it holds.
void return_free_memory();

/// "vmrun: out of memory: cannot allocate N bytes for WHAT" on standard error, a crash dump if the
/// machine runs, then the process ends with status 1. Itself it needs no memory.
[[noreturn]] void out_of_memory(const char* what, std::size_t bytes);
/// Keeps some aside, as far as there is any, for that crash dump. Once.
void keep_memory_in_reserve();

/// Stress: the n-th allocation from now on fails, as if there were no memory; the others do not. 0:
/// none does.
void fail_allocation(std::uint64_t n);
/// For memory that comes from elsewhere: counts as an allocation, and tells whether it is that one.
[[nodiscard]] bool next_allocation_fails();

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#include "vm/base/allocate.hpp"

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>

#include "vm/base/halt.hpp"
#ifdef VMRUN_MIMALLOC
#include <mimalloc.h>
#else
#define mi_malloc        std::malloc
#define mi_zalloc(bytes) std::calloc(1, bytes)
#define mi_realloc       std::realloc
#define mi_free          std::free
static void* mi_malloc_aligned(std::size_t bytes, std::size_t alignment) {
  return std::aligned_alloc(alignment, (bytes + alignment - 1) & ~(alignment - 1));
}
#endif

namespace vmrun {
namespace {

/// Allocations until one fails; 0: none fails.
std::atomic<std::uint64_t> until_failure{0};

[[gnu::cold, gnu::noinline]] bool counted_out() {
  std::uint64_t left = until_failure.load(std::memory_order_relaxed);
  while (left)
    if (until_failure.compare_exchange_weak(left, left - 1, std::memory_order_relaxed)) return left == 1;
  return false;
}
// Address space that a crash dump can use when the system gives no more. Pages that nothing touches
// take no memory.
constexpr std::size_t kReserveBytes = std::size_t{72} << 20;
std::atomic<void*> reserve{nullptr};

bool fails() { return until_failure.load(std::memory_order_relaxed) != 0 && counted_out(); }

[[gnu::cold, gnu::noinline]] void* counted(std::size_t bytes) {
  return counted_out() ? nullptr : mi_malloc(bytes);
}
/// Everything allocates here; the check in front costs an instruction or two.
[[gnu::always_inline]] inline void* get(std::size_t bytes) {
  if (until_failure.load(std::memory_order_relaxed) != 0) [[unlikely]]
    return counted(bytes);
  return mi_malloc(bytes);
}

}  // namespace

void keep_memory_in_reserve() {
  void* memory = mmap(nullptr, kReserveBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory != MAP_FAILED) reserve.store(memory);
}

void out_of_memory(const char* what, std::size_t bytes) {
  char line[256], slogan[sizeof line];
  std::snprintf(slogan, sizeof slogan, "Cannot allocate %zu bytes for %s", bytes, what);
  std::snprintf(line, sizeof line, "vmrun: out of memory: cannot allocate %zu bytes for %s\n", bytes, what);
  if (void* memory = reserve.exchange(nullptr)) munmap(memory, kReserveBytes);
  end_for_want(line, slogan);
}

bool next_allocation_fails() { return fails(); }
void fail_allocation(std::uint64_t n) { until_failure.store(n, std::memory_order_relaxed); }

void* try_allocate_bytes(std::size_t bytes) { return get(bytes); }

void* try_allocate_zeroed(std::size_t bytes) { return fails() ? nullptr : mi_zalloc(bytes); }

void* allocate_bytes(std::size_t bytes, const char* what) {
  void* p = get(bytes);
  if (!p) [[unlikely]]
    out_of_memory(what, bytes);
  return p;
}

void* try_reallocate_bytes(void* p, std::size_t bytes) { return fails() ? nullptr : mi_realloc(p, bytes); }

void free_bytes(void* p) { mi_free(p); }

#ifdef VMRUN_MIMALLOC
#if MI_MALLOC_VERSION < 210
constexpr mi_option_t kPurgeDelay = mi_option_decommit_delay;
#else
constexpr mi_option_t kPurgeDelay = mi_option_purge_delay;
#endif

#if MI_MALLOC_VERSION >= 300
namespace {

// Version 3 asks for huge pages where it commits memory ahead, which takes 2 MiB for each thread
// and class of sizes. It reserves its first memory while libraries are initialized, so the option
// is set before that. The environment (MIMALLOC_ARENA_EAGER_COMMIT) has the last word.
void commit_on_demand() { mi_option_set_default(mi_option_arena_eager_commit, 0); }
[[gnu::section(".preinit_array"), gnu::used]] void (*const before_libraries)() = commit_on_demand;

}  // namespace
#endif
#endif

void return_free_memory() {
#ifdef VMRUN_MIMALLOC
  static std::mutex alone;
  const std::lock_guard guard(alone);
  // Version 3 returns what waits for its time, but only while there is a delay.
  if constexpr (MI_MALLOC_VERSION >= 300) mi_collect(true);
  // With a delay of 0 the allocator returns at once what is freed here. What was freed before is
  // returned only when other blocks of the same segment are taken. Therefore several blocks of each
  // size are taken, beside each other: a single one may come from a segment in which nothing waits.
  const long delay = mi_option_get(kPurgeDelay);
  mi_option_set(kPurgeDelay, 0);
  mi_collect(true);
  for (std::size_t bytes = 4096 << 10; bytes >= 64 << 10; bytes /= 2) {
    void* taken[6];
    for (void*& p : taken) p = mi_malloc(bytes);
    for (void* p : taken) mi_free(p);
  }
  mi_option_set(kPurgeDelay, delay);
#endif
}

namespace {

[[gnu::cold, gnu::noinline, noreturn]] void no_object(std::size_t bytes) {
  out_of_memory("the machine's own data", bytes);
}
[[gnu::always_inline]] inline void* allocate_object(std::size_t bytes) {
  void* p = get(bytes);
  if (!p) [[unlikely]]
    no_object(bytes);
  return p;
}
void* allocate_object(std::size_t bytes, std::align_val_t alignment) {
  void* p = fails() ? nullptr : mi_malloc_aligned(bytes, static_cast<std::size_t>(alignment));
  if (!p) no_object(bytes);
  return p;
}

}  // namespace
}  // namespace vmrun

// The machine's own C++ objects and containers, those of its compiler too, use the same allocator.
// They are not written to survive std::bad_alloc, which is therefore never thrown.
void* operator new(std::size_t bytes) { return vmrun::allocate_object(bytes); }
void* operator new[](std::size_t bytes) { return vmrun::allocate_object(bytes); }
void* operator new(std::size_t bytes, std::align_val_t a) { return vmrun::allocate_object(bytes, a); }
void* operator new[](std::size_t bytes, std::align_val_t a) { return vmrun::allocate_object(bytes, a); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return vmrun::try_allocate_bytes(bytes);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return vmrun::try_allocate_bytes(bytes);
}
void operator delete(void* p) noexcept { vmrun::free_bytes(p); }
void operator delete[](void* p) noexcept { vmrun::free_bytes(p); }
void operator delete(void* p, std::size_t) noexcept { vmrun::free_bytes(p); }
void operator delete[](void* p, std::size_t) noexcept { vmrun::free_bytes(p); }
void operator delete(void* p, std::align_val_t) noexcept { vmrun::free_bytes(p); }
void operator delete[](void* p, std::align_val_t) noexcept { vmrun::free_bytes(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { vmrun::free_bytes(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { vmrun::free_bytes(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { vmrun::free_bytes(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { vmrun::free_bytes(p); }
// NOLINTEND

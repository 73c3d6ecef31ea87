// SPDX-License-Identifier: Apache-2.0
// Preloaded, it takes the place of the allocator that vmrun is linked with, and tells who watches
// how much memory is in use: to the byte, which the resident memory of a process does not, for an
// allocator keeps what it was given back. VMRUN_ALLOCATED names the file with the two words.
#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>

extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* memory, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
void __libc_free(void* memory);
}

namespace {

struct InUse {
  std::atomic<std::size_t> bytes{0}, blocks{0};
};
InUse before_the_file;  // what is allocated until then
std::atomic<InUse*> in_use{&before_the_file};

[[gnu::constructor]] void map_file() {
  const char* name = std::getenv("VMRUN_ALLOCATED");
  const int file = name == nullptr ? -1 : open(name, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  void* memory = mmap(nullptr, sizeof(InUse), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) return;
  auto* shared = static_cast<InUse*>(memory);
  shared->bytes = before_the_file.bytes.load();
  shared->blocks = before_the_file.blocks.load();
  in_use = shared;
}

void* taken(void* memory) {
  if (memory == nullptr) return nullptr;
  InUse& counts = *in_use.load(std::memory_order_relaxed);
  counts.bytes.fetch_add(malloc_usable_size(memory), std::memory_order_relaxed);
  counts.blocks.fetch_add(1, std::memory_order_relaxed);
  return memory;
}
void give_back(void* memory) {
  if (memory == nullptr) return;
  InUse& counts = *in_use.load(std::memory_order_relaxed);
  counts.bytes.fetch_sub(malloc_usable_size(memory), std::memory_order_relaxed);
  counts.blocks.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace

extern "C" {

void* malloc(std::size_t bytes) { return taken(__libc_malloc(bytes)); }
void* calloc(std::size_t count, std::size_t bytes) { return taken(__libc_calloc(count, bytes)); }
void* memalign(std::size_t alignment, std::size_t bytes) { return taken(__libc_memalign(alignment, bytes)); }
void* aligned_alloc(std::size_t alignment, std::size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  *memory = memalign(alignment, bytes);
  return *memory == nullptr ? ENOMEM : 0;
}
void free(void* memory) {
  give_back(memory);
  __libc_free(memory);
}
void* realloc(void* memory, std::size_t bytes) {
  const std::size_t old = memory == nullptr ? 0 : malloc_usable_size(memory);
  void* moved = __libc_realloc(memory, bytes);
  if (moved == nullptr && bytes != 0) return nullptr;
  InUse& counts = *in_use.load(std::memory_order_relaxed);
  counts.bytes.fetch_sub(old, std::memory_order_relaxed);
  counts.blocks.fetch_sub(memory != nullptr, std::memory_order_relaxed);
  return taken(moved);
}

// What vmrun calls by these names (vm/base/allocate.cpp).
void* mi_malloc(std::size_t bytes) { return malloc(bytes); }
void* mi_zalloc(std::size_t bytes) { return calloc(1, bytes); }
void* mi_realloc(void* memory, std::size_t bytes) { return realloc(memory, bytes); }
void* mi_malloc_aligned(std::size_t bytes, std::size_t alignment) { return memalign(alignment, bytes); }
void mi_free(void* memory) { free(memory); }
void mi_collect(bool) {}
long mi_option_get(int) { return 0; }
void mi_option_set(int, long) {}
void mi_process_info(std::size_t* elapsed_ms, std::size_t* user_ms, std::size_t* system_ms,
                     std::size_t* resident, std::size_t* most_resident, std::size_t* committed,
                     std::size_t* most_committed, std::size_t* faults) {
  *elapsed_ms = *user_ms = *system_ms = *resident = *most_resident = *committed = *most_committed = *faults =
      0;
}
}

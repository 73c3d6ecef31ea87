#include "vm/base/allocate.hpp"

#include <cstdio>
#include <cstdlib>
#ifdef VMRUN_MIMALLOC
#include <mimalloc.h>
#else
#define mi_malloc        std::malloc
#define mi_zalloc(bytes) std::calloc(1, bytes)
#define mi_realloc       std::realloc
#define mi_free          std::free
#endif

namespace vmrun {

void out_of_memory(const char* what, std::size_t bytes) {
  std::fprintf(stderr, "vmrun: memory is exhausted: cannot get %zu bytes for %s\n", bytes, what);
  std::fflush(stderr);
  std::_Exit(1);  // other threads are running: no destructors
}

void* try_allocate_bytes(std::size_t bytes) { return mi_malloc(bytes); }

void* try_allocate_zeroed(std::size_t bytes) { return mi_zalloc(bytes); }

void* allocate_bytes(std::size_t bytes, const char* what) {
  void* p = try_allocate_bytes(bytes);
  if (!p) [[unlikely]]
    out_of_memory(what, bytes);
  return p;
}

void* try_reallocate_bytes(void* p, std::size_t bytes) { return mi_realloc(p, bytes); }

void free_bytes(void* p) { mi_free(p); }

}  // namespace vmrun

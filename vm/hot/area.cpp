// SPDX-License-Identifier: Apache-2.0
#include "vm/hot/area.hpp"

#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <iterator>
#include <map>

#include "vm/base/mapped_memory.hpp"
#include "vm/jit/processor.hpp"

namespace vmrun {
namespace {

constexpr std::size_t kLine = 64;  // of a cache

std::uint8_t* page_of(const std::uint8_t* code) {
  return reinterpret_cast<std::uint8_t*>(reinterpret_cast<std::uintptr_t>(code) & ~(page_bytes() - 1));
}

/// Addresses that nothing is at, at most so far from `near`. nullptr: there are none.
void* reserve_near(const void* near, std::size_t bytes) {
  const auto middle = reinterpret_cast<std::uintptr_t>(near) & ~std::uintptr_t{0xFFFFF};
  for (std::size_t distance = 0x2000000; distance + bytes < jit::kReach; distance += 0x400000)
    for (const std::uintptr_t at : {middle - distance - bytes, middle + distance}) {
      void* const m = mmap(reinterpret_cast<void*>(at), bytes, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
      if (m == reinterpret_cast<void*>(at)) return m;
      if (m != MAP_FAILED) munmap(m, bytes);
    }
  return nullptr;
}

/// Whether memory that has been written may be executed then.
bool may_execute(void* page) {
  if (mprotect(page, page_bytes(), PROT_READ | PROT_WRITE) != 0) return false;
  *static_cast<volatile std::uint8_t*>(page) = 0;
  return mprotect(page, page_bytes(), PROT_READ | PROT_EXEC) == 0;
}

#if defined(__aarch64__)
/// Whether the kernel lets other processors forget what they have fetched of memory that is written
/// now. Code lies where other code has been, so without that none is made.
bool can_fetch_anew() {
  return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0) == 0;
}
/// Each of our threads executes an instruction barrier before it goes on (membarrier(2)).
void let_fetch_anew() { syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0); }
#else  // the processor sees to it
bool can_fetch_anew() { return true; }
void let_fetch_anew() {}
#endif

void give_back(void* pages, std::size_t bytes) {
  madvise(pages, bytes, MADV_DONTNEED);
  mprotect(pages, bytes, PROT_NONE);
}

}  // namespace

/// Offset to size.
struct Area::Free {
  std::map<std::size_t, std::size_t> pieces;
};

Area::Area(const void* near, std::size_t bytes) : free_(new Free) {
  void* const pages = bytes ? reserve_near(near, bytes) : nullptr;
  if (!pages) return;
  if (!may_execute(pages) || !can_fetch_anew()) {
    munmap(pages, bytes);
    return;
  }
  give_back(pages, page_bytes());
  begin_ = static_cast<std::uint8_t*>(pages);
  free_->pieces.emplace(0, bytes);
}

const std::uint8_t* Area::allocate(std::size_t bytes) {
  const std::size_t size = rounded_to_pages(bytes);
  auto& pieces = free_->pieces;
  for (auto it = pieces.begin(); it != pieces.end(); ++it) {
    if (it->second < size) continue;
    const auto [offset, length] = *it;
    pieces.erase(it);
    if (length > size) pieces.emplace(offset + size, length - size);
    used_ += size;
    // Not all of them at the beginning of a page: these would share few lines of the cache.
    const std::size_t lines = (size - bytes) / kLine + 1;
    return begin_ + offset + next_line_++ % lines * kLine;
  }
  return nullptr;
}

bool Area::install(const std::uint8_t* place, const std::uint8_t* code, std::size_t bytes) {
  std::uint8_t* const pages = page_of(place);
  const std::size_t size = rounded_to_pages(bytes);
  if (mprotect(pages, size, PROT_READ | PROT_WRITE) == 0) {
    std::uint8_t* const to = pages + (place - pages);
    std::memcpy(to, code, bytes);
    __builtin___clear_cache(reinterpret_cast<char*>(to), reinterpret_cast<char*>(to + bytes));
    if (mprotect(pages, size, PROT_READ | PROT_EXEC) == 0) {
      let_fetch_anew();
      return true;
    }
  }
  free(place, bytes);
  return false;
}

void Area::free(const std::uint8_t* place, std::size_t bytes) {
  std::size_t offset = static_cast<std::size_t>(page_of(place) - begin_), size = rounded_to_pages(bytes);
  give_back(begin_ + offset, size);
  used_ -= size;
  auto& pieces = free_->pieces;
  const auto after = pieces.lower_bound(offset);
  if (after != pieces.end() && after->first == offset + size) {
    size += after->second;
    pieces.erase(after);
  }
  if (const auto it = pieces.lower_bound(offset); it != pieces.begin()) {
    const auto before = std::prev(it);
    if (before->first + before->second == offset) {
      before->second += size;
      return;
    }
  }
  pieces.emplace(offset, size);
}

}  // namespace vmrun

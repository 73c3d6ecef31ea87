// SPDX-License-Identifier: Apache-2.0
#include "vm/hot/area.hpp"

#include <sys/mman.h>

#include <cstring>
#include <iterator>
#include <map>

namespace vmrun {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kLine = 64;  // of a cache
std::size_t in_pages(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

std::uint8_t* page_of(const std::uint8_t* code) {
  return reinterpret_cast<std::uint8_t*>(reinterpret_cast<std::uintptr_t>(code) & ~(kPage - 1));
}

constexpr std::size_t kReach = std::size_t{1} << 30;  // of a jump, with room for the program itself

/// Addresses that nothing is at, at most so far from `near`. nullptr: there are none.
void* reserve_near(const void* near, std::size_t bytes) {
  const auto middle = reinterpret_cast<std::uintptr_t>(near) & ~std::uintptr_t{0xFFFFFF};
  for (std::size_t distance = 0x2000000; distance < kReach; distance += 0x1000000)
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
  if (mprotect(page, kPage, PROT_READ | PROT_WRITE) != 0) return false;
  *static_cast<volatile std::uint8_t*>(page) = 0;
  return mprotect(page, kPage, PROT_READ | PROT_EXEC) == 0;
}

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
  if (!may_execute(pages)) {
    munmap(pages, bytes);
    return;
  }
  give_back(pages, kPage);
  begin_ = static_cast<std::uint8_t*>(pages);
  free_->pieces.emplace(0, bytes);
}

const std::uint8_t* Area::allocate(std::size_t bytes) {
  const std::size_t size = in_pages(bytes);
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
  const std::size_t size = in_pages(bytes);
  if (mprotect(pages, size, PROT_READ | PROT_WRITE) == 0) {
    std::memcpy(pages + (place - pages), code, bytes);
    if (mprotect(pages, size, PROT_READ | PROT_EXEC) == 0) return true;
  }
  free(place, bytes);
  return false;
}

void Area::free(const std::uint8_t* place, std::size_t bytes) {
  std::size_t offset = static_cast<std::size_t>(page_of(place) - begin_), size = in_pages(bytes);
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

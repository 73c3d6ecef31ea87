// SPDX-License-Identifier: Apache-2.0
#include "vm/hot/area.hpp"

#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <unordered_map>

#include "vm/base/mapped_memory.hpp"
#include "vm/jit/processor.hpp"

namespace vmrun {
namespace {

/// Addresses that nothing is at, near enough to `near`. nullptr: there are none.
void* reserve_near(const void* near, std::size_t bytes) {
  if (jit::kReach == std::numeric_limits<std::size_t>::max()) {
    void* const m = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return m == MAP_FAILED ? nullptr : m;
  }
  const auto middle = reinterpret_cast<std::uintptr_t>(near) & ~std::uintptr_t{0xFFFFFF};
  for (std::size_t distance = 0x2000000; distance + bytes < jit::kReach; distance += 0x1000000)
    for (const std::uintptr_t at : {middle - distance - bytes, middle + distance}) {
      void* const m = mmap(reinterpret_cast<void*>(at), bytes, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
      if (m == reinterpret_cast<void*>(at)) return m;
      if (m != MAP_FAILED) munmap(m, bytes);
    }
  return nullptr;
}

/// Whether memory that has been written may be executed then.
bool may_execute(void* page, std::size_t bytes) {
  if (mprotect(page, bytes, PROT_READ | PROT_WRITE) != 0) return false;
  *static_cast<volatile std::uint8_t*>(page) = 0;
  return mprotect(page, bytes, PROT_READ | PROT_EXEC) == 0;
}

/// Lets perf record know that all of this is code. The kernel tells perf when memory becomes
/// executable, but not when it is moved, and code is moved to its place.
void tell_perf_of_code(void* area, std::size_t bytes) {
  if (mprotect(area, bytes, PROT_READ | PROT_EXEC) == 0) mprotect(area, bytes, PROT_NONE);
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

void clear_cache(std::uint8_t* begin, std::size_t bytes) {
  __builtin___clear_cache(reinterpret_cast<char*>(begin), reinterpret_cast<char*>(begin + bytes));
}

/// The addresses stay reserved.
bool reserve_again(void* at, std::size_t bytes) {
  return mmap(at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == at;
}

constexpr std::size_t down(std::size_t n, std::size_t to) { return n / to * to; }
constexpr std::size_t up(std::size_t n, std::size_t to) { return down(n + to - 1, to); }

}  // namespace

/// Offset to size.
struct Area::Free {
  std::map<std::size_t, std::size_t> pieces;
};

struct Area::Pages {
  struct Page {
    std::size_t lines = 0;    // that codes have, or will
    bool is_written = false;  // there is a code, or there was
  };
  std::unordered_map<std::size_t, Page> by_offset;           // those with lines
  std::unordered_map<std::size_t, std::size_t> chunk_lines;  // likewise
};

Area::Area(const void* near, std::size_t bytes) : free_(new Free), lines_of_(new Pages) {
  void* const pages = bytes ? reserve_near(near, bytes) : nullptr;
  if (!pages) return;
  if (!may_execute(pages, page_bytes()) || !can_fetch_anew() || !reserve_again(pages, kChunk)) {
    munmap(pages, bytes);
    return;
  }
  tell_perf_of_code(pages, bytes);
  begin_ = static_cast<std::uint8_t*>(pages);
  size_ = bytes;
  free_->pieces.emplace(0, bytes);
}

std::size_t Area::used() const { return pages_ * page_bytes(); }

const std::uint8_t* Area::allocate(std::size_t bytes) {
  const std::size_t size = up(bytes, kLine);
  auto& pieces = free_->pieces;
  // The first one that is large enough, so that pages are filled up before others are begun.
  for (auto it = pieces.begin(); it != pieces.end(); ++it) {
    if (it->second < size) continue;
    const auto [offset, length] = *it;
    pieces.erase(it);
    if (length > size) pieces.emplace(offset + size, length - size);
    count(offset, size, true);
    return begin_ + offset;
  }
  return nullptr;
}

bool Area::install(const std::uint8_t* place, const std::uint8_t* code, std::size_t bytes) {
  const std::size_t first = down(offset(place), kChunk), size = up(offset(place) + bytes, kChunk) - first;
  void* const m = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (m != MAP_FAILED) {
    auto* const fresh = static_cast<std::uint8_t*>(m);
    for (std::size_t page = first; page < first + size; page += page_bytes())
      if (const auto it = lines_of_->by_offset.find(page);
          it != lines_of_->by_offset.end() && it->second.is_written)
        std::memcpy(fresh + (page - first), begin_ + page, page_bytes());
    std::memcpy(fresh + (offset(place) - first), code, bytes);
    clear_cache(fresh, size);
    if (move_in(fresh, first, size)) {
      for (std::size_t page = down(offset(place), page_bytes()); page < offset(place) + bytes;
           page += page_bytes())
        lines_of_->by_offset[page].is_written = true;
      clear_cache(begin_ + offset(place), bytes);
      let_fetch_anew();
      return true;
    }
    munmap(m, size);
  }
  free(place, bytes);
  return false;
}

bool Area::move_in(std::uint8_t* fresh, std::size_t first, std::size_t bytes) {
  if (mprotect(fresh, bytes, PROT_READ | PROT_EXEC) != 0) return false;
  std::uint8_t* const to = begin_ + first;
  return mremap(fresh, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to) == to;
}

void Area::free(const std::uint8_t* place, std::size_t bytes) {
  const std::size_t size = up(bytes, kLine);
  count(offset(place), size, false);
  put_back(offset(place), size);
}

void Area::put_back(std::size_t offset, std::size_t size) {
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

void Area::count(std::size_t offset, std::size_t bytes, bool taken) {
  for (std::size_t at = offset; at < offset + bytes;) {
    const std::size_t page = down(at, page_bytes()), chunk = down(at, kChunk);
    const std::size_t end = std::min(offset + bytes, page + page_bytes()), lines = (end - at) / kLine;
    at = end;
    if (taken) {
      lines_ += lines;
      lines_of_->chunk_lines[chunk] += lines;
      if (std::size_t& n = lines_of_->by_offset[page].lines; (n += lines) == lines) ++pages_;
      continue;
    }
    lines_ -= lines;
    if (std::size_t& n = lines_of_->by_offset[page].lines; (n -= lines) == 0) {
      lines_of_->by_offset.erase(page);
      --pages_;
      madvise(begin_ + page, page_bytes(), MADV_DONTNEED);
    }
    if (std::size_t& n = lines_of_->chunk_lines[chunk]; (n -= lines) == 0) {
      lines_of_->chunk_lines.erase(chunk);
      (void)reserve_again(begin_ + chunk, kChunk);
    }
  }
}

}  // namespace vmrun

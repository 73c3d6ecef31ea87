#include "vm/hot/area.hpp"

#include <sys/mman.h>

#include <iterator>
#include <map>

namespace vmrun {
namespace {

constexpr std::size_t kAlignment = 64;
std::size_t rounded(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

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

/// The same shared memory once more, to execute. (An old size of 0: mremap(2).)
bool map_executable(void* shared, std::size_t bytes, void* at) {
  return mremap(shared, 0, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at) == at &&
         mprotect(at, bytes, PROT_READ | PROT_EXEC) == 0;
}

}  // namespace

/// Offset to size.
struct Area::Free {
  std::map<std::size_t, std::size_t> pieces;
};

Area::Area(const void* near, std::size_t bytes) : size_(bytes), free_(new Free) {
  // Anonymous, not a memfd: perf asks its map of names for such memory only.
  void* const write =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (write == MAP_FAILED) return;
  void* const run = reserve_near(near, bytes);
  if (run && map_executable(write, bytes, run)) {
    write_ = static_cast<std::uint8_t*>(write);
    run_ = static_cast<std::uint8_t*>(run);
    free_->pieces.emplace(0, bytes);
  } else {
    munmap(write, bytes);
    if (run) munmap(run, bytes);
  }
}

const std::uint8_t* Area::allocate(std::size_t bytes) {
  const std::size_t size = rounded(bytes);
  auto& pieces = free_->pieces;
  for (auto it = pieces.begin(); it != pieces.end(); ++it) {
    if (it->second < size) continue;
    const auto [offset, length] = *it;
    pieces.erase(it);
    if (length > size) pieces.emplace(offset + size, length - size);
    used_ += size;
    return run_ + offset;
  }
  return nullptr;
}

void Area::free(const std::uint8_t* code, std::size_t bytes) {
  std::size_t offset = static_cast<std::size_t>(code - run_), size = rounded(bytes);
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

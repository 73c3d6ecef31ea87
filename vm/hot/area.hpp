#pragma once

#include <cstddef>
#include <cstdint>

/// Memory for machine code, near the loop's so that either reaches the other by a jump. Mapped
/// twice: where it is executed it cannot be written. (Debian's and other kernels with SELinux's
/// execmem off allow that; where one does not, there is no area.)
namespace vmrun {

class Area {
 public:
  /// near: an address in the loop. Check `ok`.
  Area(const void* near, std::size_t bytes);
  Area(const Area&) = delete;
  Area& operator=(const Area&) = delete;

  bool ok() const { return run_; }
  /// Where such code will be executed; nullptr: no room. Under the caller's lock, as `free`.
  const std::uint8_t* allocate(std::size_t bytes);
  void free(const std::uint8_t* code, std::size_t bytes);
  /// The same memory, to write to.
  std::uint8_t* writable(const std::uint8_t* code) const { return write_ + (code - run_); }
  std::size_t used() const { return used_; }

 private:
  std::uint8_t *run_ = nullptr, *write_ = nullptr;
  std::size_t size_ = 0, used_ = 0;
  struct Free;
  Free* free_;
};

}  // namespace vmrun

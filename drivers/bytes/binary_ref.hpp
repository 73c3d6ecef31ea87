// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>

#include "vm/include/erl_driver.h"

namespace vmrun {

/// One reference to a driver binary.
class BinaryRef {
 public:
  BinaryRef() = default;
  explicit BinaryRef(ErlDrvBinary* owned) : binary_(owned) {}
  BinaryRef(BinaryRef&& other) noexcept : binary_(std::exchange(other.binary_, nullptr)) {}
  BinaryRef& operator=(BinaryRef&& other) noexcept {
    std::swap(binary_, other.binary_);
    return *this;
  }
  ~BinaryRef() { reset(); }
  void reset() {
    if (binary_) driver_free_binary(std::exchange(binary_, nullptr));
  }
  /// Returns false when there is no memory.
  [[nodiscard]] bool allocate(std::size_t size) {
    reset();
    return (binary_ = driver_alloc_binary(size)) != nullptr;
  }
  /// Keeps the contents as far as there is room. Returns false, and changes nothing, when there is
  /// no memory.
  [[nodiscard]] bool resize(std::size_t size) {
    ErlDrvBinary* moved = driver_realloc_binary(binary_, size);
    if (moved) binary_ = moved;
    return moved;
  }
  explicit operator bool() const { return binary_; }
  ErlDrvBinary* get() const { return binary_; }
  char* bytes() const { return binary_->orig_bytes; }
  std::size_t size() const { return static_cast<std::size_t>(binary_->orig_size); }
  bool is_shared() const { return driver_binary_get_refc(binary_) > 1; }

 private:
  ErlDrvBinary* binary_ = nullptr;
};

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "vm/term/layout.hpp"

/// Bytes in a Binary, together with a reference to it. Packets consist of these, so that large
/// binaries are sent without a copy. Any thread, one at a time.
namespace vmrun::dist {

class BinaryPart {
 public:
  BinaryPart() = default;
  /// Takes over one reference.
  BinaryPart(Binary* binary, const std::uint8_t* data, std::size_t size)
      : binary_(binary), data_(data), size_(size) {}
  BinaryPart(BinaryPart&& o) noexcept
      : binary_(std::exchange(o.binary_, nullptr)), data_(o.data_), size_(std::exchange(o.size_, 0)) {}
  BinaryPart& operator=(BinaryPart&& o) noexcept {
    std::swap(binary_, o.binary_);
    std::swap(data_, o.data_);
    std::swap(size_, o.size_);
    return *this;
  }
  ~BinaryPart() {
    if (binary_) binary_->release();
  }

  const std::uint8_t* data() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Binary* binary() const { return binary_; }
  /// Returns `size` of its bytes from `offset` on, with a reference of their own.
  BinaryPart part(std::size_t offset, std::size_t size) const {
    binary_->retain();
    return {binary_, data_ + offset, size};
  }
  /// Drops its first n bytes.
  void drop(std::size_t n) {
    data_ += n;
    size_ -= n;
  }
  /// Returns the reference, which the caller owns from now on.
  Binary* take_reference() { return std::exchange(binary_, nullptr); }

 private:
  Binary* binary_ = nullptr;
  const std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace vmrun::dist

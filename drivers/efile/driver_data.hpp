// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "drivers/bytes/binary_ref.hpp"
#include "drivers/efile/file.hpp"

/// Memory of operations: driver binaries, so that bytes travel from the file to the process, and
/// from the process to the file, without being copied. One thread at a time.
namespace vmrun::efile {

/// Bytes read ahead, and room for more.
class ReadBuffer {
 public:
  std::size_t unread() const { return end_ - begin_; }
  std::size_t begin() const { return begin_; }
  const char* bytes() const { return data_.bytes() + begin_; }
  const BinaryRef& data() const { return data_; }
  void consume(std::size_t size) {
    begin_ += size;
    if (begin_ == end_) begin_ = end_ = 0;
  }
  void clear() { begin_ = end_ = 0; }
  /// Returns room for `size` bytes behind the unread ones, or nullptr when there is no memory.
  /// Never overwrites bytes that a process still refers to.
  char* room(std::size_t size) {
    if (size > SIZE_MAX - unread()) return nullptr;
    if (!data_ || data_.is_shared() || data_.size() - end_ < size) {
      if (data_ && !data_.is_shared() && data_.size() - unread() >= size) {
        std::memmove(data_.bytes(), bytes(), unread());
      } else {
        BinaryRef larger;
        if (!larger.allocate(unread() + size)) return nullptr;
        if (unread()) std::memcpy(larger.bytes(), bytes(), unread());
        data_ = std::move(larger);
      }
      end_ -= begin_;
      begin_ = 0;
    }
    return data_.bytes() + end_;
  }
  void filled(std::size_t size) { end_ += size; }

 private:
  BinaryRef data_;
  std::size_t begin_ = 0, end_ = 0;
};

/// Bytes to be written, at the place where they are; keeps references to their binaries.
class DataVectors {
 public:
  DataVectors() = default;
  DataVectors(const DataVectors&) = delete;
  ~DataVectors() { clear(); }
  /// Adds the bytes of `ev` from `skip` on, at most `size`. Returns false when there is no memory
  /// (needed for bytes that are not in a binary).
  [[nodiscard]] bool add(const ErlIOVec& ev, std::size_t skip, std::size_t size) {
    for (int i = 0; i < ev.vsize && size; ++i) {
      auto [base, length] = std::pair(static_cast<char*>(ev.iov[i].iov_base), ev.iov[i].iov_len);
      if (skip >= length) {
        skip -= length;
        continue;
      }
      base += skip;
      length = std::min(length - skip, size);
      skip = 0;
      size -= length;
      if (!(ev.binv && ev.binv[i] ? add_shared(ev.binv[i], base, length) : add_copy(base, length)))
        return false;
    }
    return true;
  }
  const iovec* vectors() const { return vectors_.data(); }
  std::size_t count() const { return vectors_.size(); }
  void clear() {
    for (ErlDrvBinary* b : binaries_) driver_free_binary(b);
    binaries_.clear();
    vectors_.clear();
  }

 private:
  bool add_shared(ErlDrvBinary* binary, char* base, std::size_t length) {
    driver_binary_inc_refc(binary);
    binaries_.push_back(binary);
    vectors_.push_back({base, length});
    return true;
  }
  bool add_copy(const char* base, std::size_t length) {
    ErlDrvBinary* copy = driver_alloc_binary(length);
    if (!copy) return false;
    std::memcpy(copy->orig_bytes, base, length);
    binaries_.push_back(copy);
    vectors_.push_back({copy->orig_bytes, length});
    return true;
  }

  std::vector<iovec> vectors_;
  std::vector<ErlDrvBinary*> binaries_;
};

}  // namespace vmrun::efile

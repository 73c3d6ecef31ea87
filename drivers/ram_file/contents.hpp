// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "drivers/bytes/binary_ref.hpp"

/// The contents of a file in memory: bytes from 0 to size(). One thread at a time. Functions that
/// need memory return false when there is none; nothing has changed then.
namespace vmrun::ram_file {

/// Bytes to write: those of a command from `begin` on.
struct Data {
  const ErlIOVec& command;
  std::size_t begin;
  std::size_t size() const { return command.size - begin; }
};

class Contents {
 public:
  std::size_t size() const { return size_; }
  /// Returns up to `size` bytes from `at` on, fewer at the end. Valid until the next change.
  std::string_view piece(std::size_t at, std::size_t size) const;

  /// Writes data at `at`. A gap between the end and `at` is filled with zeros, even if there is no
  /// data.
  [[nodiscard]] bool write(std::size_t at, const Data& data);
  /// Truncates, or adds zeros. Memory that is not needed any more is freed.
  [[nodiscard]] bool resize(std::size_t size);

 private:
  /// Makes room for `size` bytes.
  bool reserve(std::size_t size);

  BinaryRef room_;
  std::size_t size_ = 0;
};

}  // namespace vmrun::ram_file

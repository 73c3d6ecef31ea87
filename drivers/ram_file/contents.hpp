#pragma once

#include <cstddef>
#include <string_view>

#include "drivers/bytes/binary_ref.hpp"

/// What is in a file that lies in memory: bytes from 0 to size(). One thread at a time. What needs
/// memory says false when there is none, and then nothing has changed.
namespace vmrun::ram_file {

/// What is to be written: the bytes of a command from `begin` on.
struct Data {
  const ErlIOVec& command;
  std::size_t begin;
  std::size_t size() const { return command.size - begin; }
};

class Contents {
 public:
  std::size_t size() const { return size_; }
  /// Up to `size` bytes from `at` on, fewer at the end; valid until the next change.
  std::string_view piece(std::size_t at, std::size_t size) const;

  /// Zeros come to stand between the end and what is written behind it, also when that is nothing.
  [[nodiscard]] bool write(std::size_t at, const Data& data);
  /// Cut off, or zeros added. Memory that is not needed any more is given back.
  [[nodiscard]] bool resize(std::size_t size);

 private:
  /// Room for so many bytes.
  bool reserve(std::size_t size);

  BinaryRef room_;
  std::size_t size_ = 0;
};

}  // namespace vmrun::ram_file

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "drivers/bytes/byte_reader.hpp"
#include "drivers/inet/protocol.hpp"

/// Reads requests and builds answers; numbers are big-endian.
namespace vmrun::inet {

using Reader = ByteReader;

/// The answer to a request: a code and bytes.
class Answer {
 public:
  Answer() : bytes_(1, static_cast<char>(kOk)) {}
  static Answer failed(std::string_view reason) {
    Answer a;
    a.bytes_.assign(1, static_cast<char>(kError)).append(reason);
    return a;
  }
  static Answer failed(int error);

  Answer& u8(std::uint8_t n) { return number(n, 1); }
  Answer& u16(std::uint16_t n) { return number(n, 2); }
  Answer& u32(std::uint32_t n) { return number(n, 4); }
  Answer& u64(std::uint64_t n) { return number(n, 8); }
  Answer& bytes(std::string_view bytes) {
    bytes_.append(bytes);
    return *this;
  }
  /// To remove the bytes of something that turns out not to exist: truncates to an earlier size.
  std::size_t size() const { return bytes_.size(); }
  void truncate(std::size_t size) { bytes_.resize(size); }
  /// Overwrites a number whose value was not known before.
  void put_u32(std::size_t at, std::uint32_t n) {
    for (int i = 3; i >= 0; --i, n >>= 8) bytes_[at + static_cast<std::size_t>(i)] = static_cast<char>(n);
  }

  std::string_view all() const { return bytes_; }

 private:
  Answer& number(std::uint64_t n, int size) {
    while (size--) bytes_ += static_cast<char>(n >> 8 * size);
    return *this;
  }
  std::string bytes_;
};

}  // namespace vmrun::inet

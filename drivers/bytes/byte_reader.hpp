// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace vmrun {

/// Reads the bytes of a request to a driver from the front; numbers are big-endian. Reading past
/// the end gives zeros and makes the reader bad.
class ByteReader {
 public:
  ByteReader(const char* bytes, std::size_t size) : rest_(bytes, size) {}

  std::uint8_t u8() { return static_cast<std::uint8_t>(number(1)); }
  std::uint16_t u16() { return static_cast<std::uint16_t>(number(2)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(number(4)); }
  std::int32_t i32() { return static_cast<std::int32_t>(u32()); }
  std::uint64_t u64() { return number(8); }
  std::string_view bytes(std::size_t size) {
    if (size > rest_.size()) {
      good_ = false;
      rest_ = {};
      return {};
    }
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  std::string_view rest() { return bytes(rest_.size()); }

  std::size_t left() const { return rest_.size(); }
  bool good() const { return good_; }
  /// Whether everything has been read, and not more than there was.
  bool done() const { return good_ && rest_.empty(); }

 private:
  std::uint64_t number(std::size_t size) {
    std::uint64_t n = 0;
    for (const char c : bytes(size)) n = n << 8 | static_cast<std::uint8_t>(c);
    return n;
  }
  std::string_view rest_;
  bool good_ = true;
};

}  // namespace vmrun

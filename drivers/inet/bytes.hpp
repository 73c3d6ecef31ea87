#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "drivers/inet/protocol.hpp"

/// Requests taken apart and answers put together: numbers are big-endian.
namespace vmrun::inet {

/// The bytes of a request, from the front. Reading past the end gives zeros and makes it bad.
class Reader {
 public:
  Reader(const char* bytes, std::size_t size) : rest_(bytes, size) {}

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
  /// Everything read, and nothing more than there was.
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

/// What is answered to a request: a code and bytes.
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
  /// For what turns out not to be there: back to an earlier size.
  std::size_t size() const { return bytes_.size(); }
  void truncate(std::size_t size) { bytes_.resize(size); }
  /// A number written before: what it counts is known now.
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

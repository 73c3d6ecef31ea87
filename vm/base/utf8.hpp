// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// Converts UTF-8 to code points and back. It has no state, so any thread may call it. The machine,
/// its compiler and vmtrace share it.
/// Spec: Unicode 15, table 3-7 (no overlong forms, no surrogates).
namespace vmrun::utf8 {

inline constexpr std::size_t kMostBytes = 4;

// By number of bytes: the least character, and the first byte without the character's bits. Inside
// the functions the compiler would put them on the stack.
inline constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
inline constexpr unsigned kFirst[] = {0, 0, 0xC0, 0xE0, 0xF0};

constexpr bool is_scalar(std::uint64_t c) { return c < 0xD800 || (c > 0xDFFF && c <= 0x10FFFF); }

/// Whether the byte continues a character.
constexpr bool is_continuation(unsigned char byte) { return (byte & 0xC0) == 0x80; }

/// Returns the number of bytes of a character that begins with this byte, or 0 when none does.
constexpr std::uint32_t size_from(unsigned char first) {
  return first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
}

/// c: a scalar value.
constexpr std::size_t size_of(std::uint32_t c) { return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4; }

struct Decoded {
  std::uint32_t value = 0;
  std::uint32_t size = 0;  // in bytes; 0 when there is no valid character
};

/// Decodes the character at the start of n > 0 bytes.
template <class Byte>
constexpr Decoded decode(const Byte* bytes, std::size_t n) {
  const auto first = static_cast<unsigned char>(bytes[0]);
  if (first < 0x80) return {first, 1};
  const std::uint32_t size = size_from(first);
  if (std::size_t{size} - 1 >= n) return {};  // also when size is 0
  std::uint32_t c = first & (0x7Fu >> size);
  for (std::size_t i = 1; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if (!is_continuation(byte)) return {};
    c = c << 6 | (byte & 0x3F);
  }
  return c < kLeast[size] || !is_scalar(c) ? Decoded{} : Decoded{c, size};
}

/// Returns the next character of valid UTF-8. `at` is inside the text and moves behind it.
constexpr char32_t next(std::string_view text, std::size_t& at) {
  const Decoded c = decode(text.data() + at, text.size() - at);
  at += c.size ? c.size : 1;
  return c.value;
}

/// Writes a scalar value. Returns the number of bytes, at most kMostBytes.
template <class Byte>
constexpr std::size_t encode(std::uint32_t c, Byte* bytes) {
  const std::size_t size = size_of(c);
  for (std::size_t i = size; --i > 0; c >>= 6) bytes[i] = static_cast<Byte>(0x80 | (c & 0x3F));
  bytes[0] = static_cast<Byte>(kFirst[size] | c);
  return size;
}

inline void append(std::string& out, std::uint32_t c) {
  char bytes[kMostBytes];
  out.append(bytes, encode(c, bytes));
}

inline std::string from_latin1(std::string_view text) {
  std::string out;
  for (const char c : text) append(out, static_cast<unsigned char>(c));
  return out;
}

/// Returns the number of characters of valid UTF-8.
constexpr std::size_t count(std::string_view text) {
  std::size_t n = 0;
  for (const char c : text) n += !is_continuation(static_cast<unsigned char>(c));
  return n;
}

}  // namespace vmrun::utf8

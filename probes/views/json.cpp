#include "probes/views/json.hpp"

#include <fmt/format.h>

namespace vmrun::d {
namespace {

struct Decoded {
  std::uint32_t code_point;
  std::size_t bytes;  // 0: this is no UTF-8
};

/// The first code point: Unicode 15, table 3-7 (no overlong forms, no surrogates).
Decoded decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < bytes) return {0, 0};
  std::uint32_t code_point = first & (0x7F >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {0, 0};
    code_point = code_point << 6 | (byte(i) & 0x3F);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
  if (code_point < kLeast[bytes] || code_point > 0x10FFFF || is_surrogate) return {0, 0};
  return {code_point, bytes};
}

}  // namespace

void put_json(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const auto [code_point, bytes] = decode(text);
    if (bytes == 0) out += "\\ufffd";
    else if (code_point == '"' || code_point == '\\') (out += '\\') += static_cast<char>(code_point);
    else if (code_point == '\n') out += "\\n";
    else if (code_point < 0x20 || code_point == 0x7F)
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", code_point);
    else out += text.substr(0, bytes);
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  out += '"';
}

void put_json(std::string& out, std::int64_t number) {
  const fmt::format_int text(number);
  out.append(text.data(), text.size());
}

void put_json(std::string& out, std::uint64_t number) {
  const fmt::format_int text(number);
  out.append(text.data(), text.size());
}

}  // namespace vmrun::d

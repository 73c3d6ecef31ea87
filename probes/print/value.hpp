#pragma once

#include <cstdint>
#include <string_view>

#include "probes/d/script/script.hpp"
#include "probes/engine/record.hpp"

/// A field of a record or an element of a key as the formatting code sees it: a number, or bytes
/// that somebody else keeps for as long as the value is looked at. What the machine handed over in
/// a shape of its own is a text by then (texts.hpp). Plain data of the reader's thread.
namespace vmrun::d {

/// A text up to the NUL that ends it, or all of it.
inline std::string_view until_nul(std::string_view bytes) { return bytes.substr(0, bytes.find('\0')); }

struct Value {
  Field::Kind kind = Field::Kind::kInteger;
  std::uint8_t width = 8;  // bytes of an integer's type
  bool is_signed = true;
  bool is_null = false;  // of a text: there is none
  std::uint32_t type = 0;
  std::uint32_t most = 0;  // bytes of the variable that a text is of
  std::int64_t number = 0;
  std::string_view bytes;  // a text, the bytes of a structure, or the lines of a stack

  static Value integer(std::int64_t n, std::uint8_t width = 8, bool is_signed = true) {
    Value v;
    v.number = n;
    v.width = width;
    v.is_signed = is_signed;
    return v;
  }
  static Value text(std::string_view s) {
    Value v;
    v.kind = Field::Kind::kText;
    v.bytes = s;
    return v;
  }
  /// The number without sign, cut to its type.
  std::uint64_t raw() const {
    const auto all = static_cast<std::uint64_t>(number);
    return width >= 8 ? all : all & ((1ULL << (8 * width)) - 1);
  }
};

}  // namespace vmrun::d

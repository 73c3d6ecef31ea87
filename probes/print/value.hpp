// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "probes/d/script/script.hpp"
#include "probes/engine/record.hpp"

/// A field of a record or an element of a key as the formatting code sees it: a number, or bytes
/// that stay valid as long as the value is used. An argument that the machine handed over in an
/// encoding is a text by then (record_texts.hpp). Plain data of the consumer's thread.
namespace vmrun::d {

/// Returns a text up to the NUL that ends it, or all of it.
inline std::string_view until_nul(std::string_view bytes) { return bytes.substr(0, bytes.find('\0')); }

struct Value {
  Field::Kind kind = Field::Kind::kInteger;
  std::uint8_t width = 8;  // the size of an integer's type
  bool is_signed = true;
  bool is_null = false;  // the text is a null pointer
  std::uint32_t type = 0;
  std::uint32_t most = 0;  // the size of the variable that holds a text
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
  /// Returns the number without sign, cut to its type.
  std::uint64_t raw() const {
    const auto all = static_cast<std::uint64_t>(number);
    return width >= 8 ? all : all & ((1ULL << (8 * width)) - 1);
  }
};

}  // namespace vmrun::d

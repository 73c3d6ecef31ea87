// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// How one segment of the bit syntax is laid out. Core and SSA describe segments alike.
namespace vmrun::ir {

enum class SegType : std::uint8_t { kInteger, kFloat, kBinary, kUtf8, kUtf16, kUtf32 };

/// One segment of a binary, with every default filled in. The size is an operand beside it: bits
/// taken = size * unit. No size means "all the rest" for kBinary; it is ignored for kUtf*; integers
/// and floats always have one.
struct SegSpec {
  SegType type = SegType::kInteger;
  bool is_signed = false;
  bool little = false;
  bool native = false;
  std::uint32_t unit = 1;      // integer 1, float 1, binary 8, bits 1 unless given
  std::uint32_t position = 0;  // in the expression, from 1: for error messages
};

}  // namespace vmrun::ir

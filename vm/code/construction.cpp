// SPDX-License-Identifier: Apache-2.0
#include "vm/code/construction.hpp"

#include "vm/base/utf8.hpp"
#include "vm/term/bits_fields.hpp"

namespace vmrun {

std::uint8_t* put_binary(const BitsUnderWay& bits, Word at, Term source, Term size, unsigned unit) {
  if (!source.is_bitstring()) return nullptr;
  const BitView v = bits_of(source);
  Word n = v.size_bits;
  if (unit && (field_bits(size, unit, &n) != FieldSize::kOk || n > v.size_bits)) return nullptr;
  if ((v.offset_bits | n) & 7) return nullptr;
  n /= 8;
  if (bits.out > bits.limit || n > static_cast<Word>(bits.limit - bits.out)) return nullptr;
  std::memcpy(bits.out + at, v.bytes(), n);
  return bits.out + n;
}

std::uint8_t* put_utf8(const BitsUnderWay& bits, Word at, Term value) {
  if (!is_unicode_scalar(value)) return nullptr;
  const auto c = static_cast<std::uint32_t>(value.small_value());
  const Word n = utf8::size_of(c);
  if (bits.out > bits.limit || n > static_cast<Word>(bits.limit - bits.out)) return nullptr;
  std::uint8_t encoded[utf8::kMostBytes];
  utf8::encode(c, encoded);
  std::memcpy(bits.out + at, encoded, n);
  return bits.out + n;
}

}  // namespace vmrun

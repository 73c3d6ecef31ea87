// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/core/to_core_binary.hpp"

#include <cstring>

#include "runtime/compile/core/to_core_expr.hpp"
#include "vm/term/arith.hpp"
#include "vm/term/big.hpp"
#include "vm/term/bits.hpp"

namespace vmrun::compile {

core::SegSpec BinaryToCore::segment_spec(const Segment& s) const {
  core::SegSpec spec;
  spec.is_signed = s.sign == 1;
  spec.little = s.endian == 1;
  spec.native = s.endian == 2;
  switch (s.type) {
    case SegmentType::kDefault:
    case SegmentType::kInteger: spec.type = core::SegType::kInteger; break;
    case SegmentType::kFloat: spec.type = core::SegType::kFloat; break;
    case SegmentType::kBinary:
      spec.type = core::SegType::kBinary;
      spec.unit = 8;
      break;
    case SegmentType::kBits: spec.type = core::SegType::kBinary; break;
    case SegmentType::kUtf8: spec.type = core::SegType::kUtf8; break;
    case SegmentType::kUtf16: spec.type = core::SegType::kUtf16; break;
    case SegmentType::kUtf32: spec.type = core::SegType::kUtf32; break;
  }
  if (s.unit != 0) spec.unit = static_cast<std::uint32_t>(s.unit);
  return spec;
}

core::Expr* BinaryToCore::default_size(const Segment& s) {
  switch (s.type) {
    case SegmentType::kDefault:
    case SegmentType::kInteger: return nodes_.integer_literal({}, 8);
    case SegmentType::kFloat: return nodes_.integer_literal({}, 64);
    default: return nullptr;
  }
}

void BinaryToCore::append_segments(const BinaryExpr& e, Block& block, std::vector<core::Segment>& out) {
  std::vector<const Expr*> items;
  for (const Segment& s : e.segments) {
    if (!s.value->is(ExprKind::kString)) items.push_back(s.value);
    if (s.size) items.push_back(s.size);
  }
  const auto parts = c_.exprs.operands(items, block);
  std::size_t at = 0;
  auto position = static_cast<std::uint32_t>(out.size());
  for (const Segment& s : e.segments) {
    core::SegSpec spec = segment_spec(s);
    if (s.is_text()) spec = {};
    spec.position = ++position;
    if (!s.value->is(ExprKind::kString)) {
      CExpr* v = parts[at++];
      out.push_back({spec, v, s.size ? parts[at++] : default_size(s), s.loc});
      continue;
    }
    CExpr* size = s.size ? parts[at++] : nullptr;
    std::u32string_view chars = s.value->as<StringExpr>().chars;
    if (chars.empty() && spec.type == core::SegType::kBinary)  // no binary, even so
      out.push_back({spec, nodes_.literal(s.loc, Term::nil()), size, s.loc});
    if (size && chars.size() != 1) size = nodes_.named(size, block);
    for (std::size_t i = 0; i < chars.size(); ++i) {
      CExpr* own = size == nullptr    ? default_size(s)
                   : i == 0           ? size
                   : is_literal(size) ? nodes_.literal({}, literal_of(size))
                                      : nodes_.ref(size->as<core::VarRef>().var);
      out.push_back({spec, nodes_.literal(s.loc, Term::small(static_cast<SWord>(chars[i]))), own, s.loc});
    }
  }
}

core::Expr* BinaryToCore::binary_expr(const BinaryExpr& e, Block& block) {
  std::vector<core::Segment> segments;
  append_segments(e, block, segments);
  if (CExpr* folded = fold_binary(e.loc, segments)) return folded;
  return nodes_.make<core::Binary>(e.loc, nodes_.keep(segments));
}

namespace {

/// Bits collected from the most significant end.
class BitBuffer {
 public:
  void append(const std::uint8_t* bytes, Word offset, Word bits) {
    bytes_.resize((size_ + bits + 7) / 8 + 1);
    copy_bits(bytes_.data(), size_, bytes, offset, bits);
    size_ += bits;
  }
  Word size() const { return size_; }
  Term term(vmrun::Heap& heap) {
    if (bytes_.empty()) bytes_.resize(1);
    return make_bitstring(heap, bytes_.data(), 0, size_);
  }

 private:
  std::vector<std::uint8_t> bytes_;
  Word size_ = 0;
};

constexpr Word kMaxFoldedBits = Word{1} << 23;

/// Appends one constant segment. Returns false when it must be left to run time, also because of an
/// error.
bool append_constant(BitBuffer& out, const core::SegSpec& spec, Term value, Term size) {
  if (spec.native) return false;
  Word bits = 0;
  const bool sized = spec.type == core::SegType::kInteger || spec.type == core::SegType::kFloat;
  if (sized) {
    if (!size.is_value() || !size.is_small() || size.small_value() < 0 || size.small_value() > SWord{1} << 20)
      return false;
    bits = static_cast<Word>(size.small_value()) * spec.unit;
    if (bits > kMaxFoldedBits) return false;
  }
  auto point = [&] {
    SWord c = value.is_small() ? value.small_value() : -1;
    const bool scalar = (c >= 0 && c < 0xD800) || (c > 0xDFFF && c <= 0x10FFFF);
    return scalar ? c : SWord{-1};
  };
  auto unit16 = [&](unsigned v, std::uint8_t* to) {
    to[spec.little ? 0 : 1] = static_cast<std::uint8_t>(v);
    to[spec.little ? 1 : 0] = static_cast<std::uint8_t>(v >> 8);
  };
  switch (spec.type) {
    case core::SegType::kInteger: {
      if (!value.is_integer() || (spec.little && bits % 8 != 0)) return false;
      std::vector<std::uint8_t> bytes((bits + 7) / 8 + 1);
      integer_to_bytes(value, bytes.data(), (bits + 7) / 8, spec.little);
      out.append(bytes.data(), (8 - bits % 8) % 8, bits);
      return true;
    }
    case core::SegType::kFloat: {
      double d;
      if (!number_to_double(value, &d) || (bits != 64 && bits != 32)) return false;
      std::uint64_t image;
      if (bits == 64) {
        std::memcpy(&image, &d, 8);
      } else {
        float f = static_cast<float>(d);
        if (f - f != 0) return false;
        std::uint32_t small;
        std::memcpy(&small, &f, 4);
        image = small;
      }
      std::uint8_t bytes[8];
      for (Word i = 0; i < bits / 8; ++i)
        bytes[spec.little ? i : bits / 8 - 1 - i] = static_cast<std::uint8_t>(image >> (8 * i));
      out.append(bytes, 0, bits);
      return true;
    }
    case core::SegType::kBinary: {
      if (!value.is_bitstring() || size.is_value()) return false;
      BitView v = bits_of(value);
      if (v.size_bits % spec.unit != 0 || v.size_bits > kMaxFoldedBits) return false;
      out.append(v.base, v.offset_bits, v.size_bits);
      return true;
    }
    case core::SegType::kUtf8: {
      if (point() < 0) return false;
      std::string text;
      append_utf8(text, static_cast<char32_t>(point()));
      out.append(reinterpret_cast<const std::uint8_t*>(text.data()), 0, text.size() * 8);
      return true;
    }
    case core::SegType::kUtf16: {
      SWord c = point();
      if (c < 0) return false;
      std::uint8_t bytes[4];
      if (c < 0x10000) {
        unit16(static_cast<unsigned>(c), bytes);
        out.append(bytes, 0, 16);
      } else {
        unit16(static_cast<unsigned>(0xD800 + ((c - 0x10000) >> 10)), bytes);
        unit16(static_cast<unsigned>(0xDC00 + ((c - 0x10000) & 0x3FF)), bytes + 2);
        out.append(bytes, 0, 32);
      }
      return true;
    }
    case core::SegType::kUtf32: {
      SWord c = point();
      if (c < 0) return false;
      std::uint8_t bytes[4];
      for (int i = 0; i < 4; ++i) bytes[spec.little ? i : 3 - i] = static_cast<std::uint8_t>(c >> (8 * i));
      out.append(bytes, 0, 32);
      return true;
    }
  }
  return false;
}

}  // namespace

core::Expr* BinaryToCore::fold_binary(Loc loc, const std::vector<core::Segment>& segments) {
  BitBuffer bits;
  for (const core::Segment& s : segments) {
    if (!is_literal(s.value) || (s.size && !is_literal(s.size))) return nullptr;
    if (!append_constant(bits, s.spec, literal_of(s.value), s.size ? literal_of(s.size) : kNonValue))
      return nullptr;
    if (bits.size() > kMaxFoldedBits) return nullptr;
  }
  return nodes_.literal(loc, bits.term(nodes_.heap()));
}

}  // namespace vmrun::compile

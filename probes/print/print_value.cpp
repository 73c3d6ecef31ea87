// SPDX-License-Identifier: Apache-2.0
#include "probes/print/print_value.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "probes/print/format.hpp"

namespace vmrun::d {
namespace {

constexpr unsigned kDeepest = 32;

class Printer {
 public:
  Printer(std::string& out, const std::vector<CType>& types) : out_(out), types_(types) {}

  void declaration(std::uint32_t type, const std::string& name) {
    std::string dimensions;
    while (kind(type) == CType::Kind::kArray) {
      dimensions += fmt::format(" [{}]", types_[type].count);
      type = types_[type].element;
    }
    out_ += types_[type].name + dimensions;
    if (!name.empty()) (out_ += ' ') += name;
  }

  void value(std::uint32_t type, std::string_view bytes, unsigned depth) {
    while (kind(type) == CType::Kind::kTypedef) type = types_[type].element;
    if (type >= types_.size() || depth > kDeepest) {
      out_ += "...";
      return;
    }
    const CType& t = types_[type];
    switch (t.kind) {
      case CType::Kind::kStruct:
      case CType::Kind::kUnion: return members(t, bytes, depth);
      case CType::Kind::kArray: return elements(t, bytes, depth);
      case CType::Kind::kString: return text(bytes);
      case CType::Kind::kEnum: return enumerator(t, number(bytes, t.bytes, true));
      case CType::Kind::kPointer: out_ += fmt::format("0x{:x}", number(bytes, t.bytes, false)); return;
      default: return integer(t, number(bytes, t.bytes, t.is_signed));
    }
  }

  void integer(const CType& t, std::int64_t n) {
    if (is_char(t)) out_ += fmt::format("'{}'", escaped(std::string(1, static_cast<char>(n))));
    else if (t.is_signed) out_ += fmt::format("{}", n);
    else out_ += fmt::format("0x{:x}", static_cast<std::uint64_t>(n));
  }

  void enumerator(const CType& t, std::int64_t n) {
    const auto found = std::find_if(t.enumerators.begin(), t.enumerators.end(),
                                    [n](const auto& e) { return e.second == n; });
    out_ += found == t.enumerators.end() ? fmt::format("{}", n) : found->first;
  }

  void text(std::string_view bytes) {
    (out_ += '"') += escaped(until_nul(bytes));
    out_ += '"';
  }

 private:
  CType::Kind kind(std::uint32_t type) const {
    return type < types_.size() ? types_[type].kind : CType::Kind::kVoid;
  }
  static bool is_char(const CType& t) { return t.bytes == 1 && t.name == "char"; }

  static std::int64_t number(std::string_view bytes, std::uint32_t width, bool is_signed) {
    std::uint64_t n = 0;
    std::memcpy(&n, bytes.data(), std::min<std::size_t>({bytes.size(), width, 8}));
    if (!is_signed || width >= 8 || width == 0) return static_cast<std::int64_t>(n);
    const unsigned shift = 64 - 8 * width;
    return static_cast<std::int64_t>(n << shift) >> shift;
  }

  void members(const CType& t, std::string_view bytes, unsigned depth) {
    out_ += "{\n";
    for (const CType::Member& m : t.members) {
      out_.append(4 * (depth + 1), ' ');
      declaration(m.type, m.name);
      if (m.bits != 0) out_ += fmt::format(" :{}", m.bits);
      out_ += " = ";
      const auto part = bytes.substr(std::min<std::size_t>(m.offset, bytes.size()));
      if (m.bits != 0) bit_field(m, part);
      else value(m.type, part.substr(0, types_[m.type].bytes), depth + 1);
      out_ += '\n';
    }
    out_.append(4 * depth, ' ');
    out_ += '}';
  }

  void bit_field(const CType::Member& m, std::string_view bytes) {
    std::uint64_t n = static_cast<std::uint64_t>(number(bytes, 8, false)) >> m.bit_offset;
    if (m.bits < 64) n &= (1ULL << m.bits) - 1;
    out_ += fmt::format("0x{:x}", n);
  }

  void elements(const CType& t, std::string_view bytes, unsigned depth) {
    if (t.element < types_.size() && is_char(types_[t.element])) return text(bytes);
    const std::size_t width = t.element < types_.size() ? types_[t.element].bytes : 0;
    const bool lines = kind(t.element) == CType::Kind::kStruct || kind(t.element) == CType::Kind::kUnion;
    out_ += lines ? "[\n" : "[ ";
    for (std::size_t i = 0; i < t.count && width != 0 && (i + 1) * width <= bytes.size(); ++i) {
      if (lines) {
        out_.append(4 * (depth + 1), ' ');
        declaration(t.element, "");
        out_ += ' ';
      } else if (i != 0) {
        out_ += ", ";
      }
      value(t.element, bytes.substr(i * width, width), depth + 1);
      if (lines) out_ += '\n';
    }
    if (lines) out_.append(4 * depth, ' ');
    out_ += lines ? "]" : " ]";
  }

  std::string& out_;
  const std::vector<CType>& types_;
};

}  // namespace

void print_typed(std::string& out, const std::vector<CType>& types, const Value& value) {
  Printer printer(out, types);
  if (value.type < types.size()) {
    printer.declaration(value.type, "");
    out += ' ';
  }
  if (value.kind == Field::Kind::kBytes) return printer.value(value.type, value.bytes, 0);
  if (value.kind != Field::Kind::kInteger) return printer.text(value.is_null ? "(null)" : value.bytes);
  const std::uint64_t raw = value.raw();
  if (value.type < types.size())
    printer.value(value.type, {reinterpret_cast<const char*>(&raw), sizeof raw}, 0);
  else out += fmt::format("{}", value.number);
}

}  // namespace vmrun::d

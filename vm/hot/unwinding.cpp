// SPDX-License-Identifier: Apache-2.0
#include "vm/hot/unwinding.hpp"

#include <cstring>

#include "vm/jit/native_frame.hpp"

namespace vmrun {
namespace {

using jit::kFrameSize, jit::kReturnInDwarf, jit::kSavedInDwarf, jit::kStackInDwarf;

/// How addresses are written (DW_EH_PE_...).
enum Encoding : std::uint8_t { kAbsolute = 0x00, kRelative = 0x1B, kCount = 0x03, kFromTable = 0x3B };
enum Instruction : std::uint8_t {  // DW_CFA_...
  kNop = 0x00,
  kAdvance = 0x04,  // by four bytes that follow
  kSameValue = 0x08,
  kDefine = 0x0C,
  kDefineOffset = 0x0E,
  kOffset = 0x80
};

class Writer {
 public:
  explicit Writer(std::vector<std::uint8_t>* to) : to_(*to) {}

  std::size_t at() const { return to_.size(); }
  void u8(unsigned v) { to_.push_back(static_cast<std::uint8_t>(v)); }
  void u32(std::uint32_t v) { put(&v, sizeof v); }
  void u64(std::uint64_t v) { put(&v, sizeof v); }
  void uleb(std::size_t v) {
    for (; v >= 0x80; v >>= 7) u8(static_cast<unsigned>(v & 0x7F) | 0x80);
    u8(static_cast<unsigned>(v));
  }
  /// An entry of .eh_frame: its length, then what `write` writes, filled up.
  template <class Write>
  void entry(Write write) {
    const std::size_t begin = at();
    u32(0);
    write();
    while ((at() - begin) % 8) u8(kNop);
    const auto length = static_cast<std::uint32_t>(at() - begin - 4);
    std::memcpy(to_.data() + begin, &length, sizeof length);
  }

  /// What entries of code have in common: the usual frame (a common information entry).
  void common(Encoding addresses) {
    entry([&] {
      u32(0);
      u8(1);  // version
      for (const char c : {'z', 'R', '\0'}) u8(static_cast<unsigned char>(c));
      uleb(1);   // of code
      u8(0x78);  // of data: -8
      u8(kReturnInDwarf);
      uleb(1);
      u8(addresses);
      u8(kDefine);
      uleb(kStackInDwarf);
      uleb(kFrameSize * sizeof(Word));
      for (unsigned n = 0; n < std::size(kSavedInDwarf); ++n) saved(n);
    });
  }
  void sizes(FrameSizes sizes) {
    std::uint32_t from = 0;
    unsigned before = std::size(kSavedInDwarf);
    for (const auto& [offset, words, registers] : sizes) {
      u8(kAdvance);
      u32(offset - from);
      u8(kDefineOffset);
      uleb(words * sizeof(Word));
      for (unsigned n = before; n < registers; ++n) saved(n);
      for (unsigned n = registers; n < before; ++n) {
        u8(kSameValue);
        uleb(kSavedInDwarf[n]);
      }
      from = offset;
      before = registers;
    }
  }

 private:
  void saved(unsigned n) {
    u8(kOffset | kSavedInDwarf[n]);
    uleb(n + 1);  // words below the frame's beginning
  }
  void put(const void* data, std::size_t size) {
    const auto* const p = static_cast<const std::uint8_t*>(data);
    to_.insert(to_.end(), p, p + size);
  }

  std::vector<std::uint8_t>& to_;
};

}  // namespace

FrameTable::FrameTable() { Writer(&bytes_).common(kAbsolute); }

void FrameTable::add(const void* code, std::size_t bytes, FrameSizes sizes) {
  if (!bytes) return;
  Writer w(&bytes_);
  w.entry([&] {
    w.u32(static_cast<std::uint32_t>(w.at()));  // from here back to the common entry
    w.u64(reinterpret_cast<std::uint64_t>(code));
    w.u64(bytes);
    w.uleb(0);
    w.sizes(sizes);
  });
}

std::vector<std::uint8_t> FrameTable::finish() const {
  std::vector<std::uint8_t> all = bytes_;
  Writer(&all).u32(0);
  return all;
}

void append_unwinding(FrameSizes sizes, std::vector<std::uint8_t>* code) {
  const auto code_bytes = static_cast<std::uint32_t>(code->size());
  Writer w(code);
  const auto back_to = [&](std::size_t where) { w.u32(static_cast<std::uint32_t>(where - w.at())); };
  const std::size_t frames = w.at();
  w.common(kRelative);
  const std::size_t of_code = w.at();
  w.entry([&] {
    w.u32(static_cast<std::uint32_t>(w.at() - frames));
    back_to(0);
    w.u32(code_bytes);
    w.uleb(0);
    w.sizes(sizes);
  });
  w.u32(0);
  const std::size_t table = w.at();
  w.u8(1);  // version
  w.u8(kRelative);
  w.u8(kCount);
  w.u8(kFromTable);
  back_to(frames);
  w.u32(1);
  w.u32(static_cast<std::uint32_t>(0 - table));
  w.u32(static_cast<std::uint32_t>(of_code - table));
}

}  // namespace vmrun

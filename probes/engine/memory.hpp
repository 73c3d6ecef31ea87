// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

/// The script's address space, into which its pointers point. An address has the number of a
/// segment in the high 32 bits and an offset in the low ones. 0 is NULL, and no script can reach
/// anything else. Each thread that fires has an address space; all segments but two belong to that
/// thread alone.
namespace vmrun::d {

using Address = std::uint64_t;

enum class Segment : std::uint32_t {
  kNull,
  kTexts,    // the program's texts; only read
  kScratch,  // memory of this firing's clause
  kFrame,    // this-> variables, zero at the start of a firing
  kGlobals,  // global variables; other threads change them too
  kCount
};

constexpr Address address(Segment segment, std::size_t offset) {
  return static_cast<Address>(segment) << 32 | static_cast<std::uint32_t>(offset);
}

class Memory {
 public:
  void set(Segment segment, char* base, std::size_t bytes) {
    pieces_[static_cast<unsigned>(segment)] = {base, bytes};
  }

  /// Returns nullptr when these bytes are not the script's, or when it may not write them.
  char* at(Address a, std::size_t bytes, bool write = false) const {
    const std::size_t segment = a >> 32, offset = a & 0xffffffff;
    if (segment >= static_cast<std::size_t>(Segment::kCount)) return nullptr;
    if (write && segment == static_cast<std::size_t>(Segment::kTexts)) return nullptr;
    const Piece& piece = pieces_[segment];
    const std::size_t there = segment == static_cast<std::size_t>(Segment::kScratch) ? used_ : piece.bytes;
    return offset < there && bytes <= there - offset ? piece.base + offset : nullptr;
  }

  /// Gives the text at a, up to its NUL, `most` bytes, or the end of the segment. Returns false for
  /// a bad address.
  bool text(Address a, std::size_t most, std::string_view& out) const {
    const char* start = at(a, 1);
    if (start == nullptr) return false;
    const std::size_t segment = a >> 32;
    const std::size_t there =
        segment == static_cast<std::size_t>(Segment::kScratch) ? used_ : pieces_[segment].bytes;
    const std::size_t left = there - (a & 0xffffffff);
    out = {start, strnlen(start, left < most ? left : most)};
    return true;
  }

  /// Reserves scratch memory, which is given back as a whole when the clause ends. Returns 0 when
  /// there is no room.
  Address reserve(std::size_t bytes) {
    const std::size_t start = used_;
    const std::size_t most = pieces_[static_cast<unsigned>(Segment::kScratch)].bytes;
    if (bytes > most - start) return 0;
    const std::size_t end = start + ((bytes + 7) & ~std::size_t{7});
    used_ = end < most ? end : most;
    return address(Segment::kScratch, start);
  }
  /// Reserves memory that the script asks for, and counts how much that is.
  Address give(std::size_t bytes) {
    given_ += bytes;
    return reserve(bytes);
  }
  std::size_t given() const { return given_; }
  /// Gives back the end of what was reserved last.
  void shrink(Address a, std::size_t bytes) { used_ = ((a & 0xffffffff) + bytes + 7) & ~std::size_t{7}; }
  void release_all() { used_ = given_ = 0; }

 private:
  struct Piece {
    char* base = nullptr;
    std::size_t bytes = 0;
  };
  Piece pieces_[static_cast<unsigned>(Segment::kCount)];
  std::size_t used_ = 0, given_ = 0;
};

}  // namespace vmrun::d

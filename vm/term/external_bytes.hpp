// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "vm/term/term_space.hpp"

/// Terms that are being written in the external format. The object has bytes of its own, in one
/// piece, and refers to large binaries that stand between them and are not copied. It lives as long
/// as one call, and so do the terms whose binaries it names. One thread.
namespace vmrun {

class ExternalBytes {
 public:
  ExternalBytes() = default;
  ~ExternalBytes();
  ExternalBytes(const ExternalBytes&) = delete;
  ExternalBytes& operator=(const ExternalBytes&) = delete;

  // ---- Writing. Room is made before each piece, so that the pieces themselves are plain stores.
  [[gnu::always_inline]] std::uint8_t* room(std::size_t n) {
    if (capacity_ - used_ < n) [[unlikely]]
      grow(n);
    return base_ + used_;
  }
  void advance(std::size_t n) { used_ += n; }
  void u8(unsigned v) {
    *room(1) = static_cast<std::uint8_t>(v);
    ++used_;
  }
  void be(Word v, unsigned bytes) {
    std::uint8_t* p = room(bytes);
    for (unsigned i = 0; i < bytes; ++i) p[i] = static_cast<std::uint8_t>(v >> (8 * (bytes - 1 - i)));
    used_ += bytes;
  }
  void tag_u8(unsigned tag, Word v) {
    std::uint8_t* p = room(2);
    p[0] = static_cast<std::uint8_t>(tag);
    p[1] = static_cast<std::uint8_t>(v);
    used_ += 2;
  }
  void tag_be32(unsigned tag, Word v) {
    std::uint8_t* p = room(5);
    const std::uint32_t swapped = __builtin_bswap32(static_cast<std::uint32_t>(v));
    p[0] = static_cast<std::uint8_t>(tag);
    std::memcpy(p + 1, &swapped, 4);
    used_ += 5;
  }
  void bytes(const void* from, std::size_t n) {
    if (n) std::memcpy(room(n), from, n);
    used_ += n;
  }
  /// Inserts these bytes here. They lie in `binary`, which is not retained yet.
  void insert(Binary* binary, const std::uint8_t* bytes, std::size_t n) {
    inserted_.push_back({used_, binary, bytes, n});
    inserted_bytes_ += n;
  }
  /// Leaves four bytes for the size of what follows; end_sized fills them in.
  std::size_t begin_sized() {
    be(inserted_bytes_, 4);
    return used_ - 4;
  }
  void end_sized(std::size_t begin);
  /// Discards the own bytes from there on.
  void cut(std::size_t from) { used_ = from; }

  // ---- What has been written.
  struct Inserted {
    std::size_t at;  // number of own bytes in front
    Binary* binary;
    const std::uint8_t* bytes;
    std::size_t size;
  };
  const std::vector<Inserted>& inserted() const { return inserted_; }
  std::span<const std::uint8_t> own_bytes() const { return {base_, used_}; }
  /// Includes what is inserted.
  std::size_t size() const { return used_ + inserted_bytes_; }
  std::string_view text() const { return {reinterpret_cast<const char*>(base_), used_}; }

  /// Returns the own bytes, with one reference that is the caller's. Nothing is written afterwards.
  [[nodiscard]] Binary* take_own_bytes();
  /// Returns all bytes as a binary. Nothing may have been inserted.
  Term to_binary(TermSpace& heap);
  /// Returns a list of binaries; the inserted ones are not copied.
  Term to_iovec(TermSpace& heap);

 private:
  [[gnu::noinline]] void grow(std::size_t n);

  static constexpr std::size_t kInlineBytes = 512;
  std::uint8_t inline_[kInlineBytes];
  std::uint8_t* base_ = inline_;
  std::size_t capacity_ = kInlineBytes, used_ = 0;
  Binary* binary_ = nullptr;  // holds base_, once that is not inline_
  std::vector<Inserted> inserted_;
  std::size_t inserted_bytes_ = 0;
};

}  // namespace vmrun

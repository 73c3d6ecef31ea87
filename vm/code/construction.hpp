// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstring>

#include "vm/code/instructions.hpp"
#include "vm/term/bits.hpp"

/// Bit strings that the loop builds itself, an instruction for each segment: those whose segments
/// the loader has found to be simple (loader_construct.cpp). Nothing can be seen of one before its
/// last instruction, so wherever something is not as expected, bs_create_bin builds it from the
/// beginning. Owner of the heap only; nothing here collects.
namespace vmrun {

/// The bit string under construction.
struct BitsUnderWay {
  // Where fields of fixed size are counted from; the others move it on.
  std::uint8_t* out;
  const std::uint8_t* limit;  // `out` may come so far
  Word pieces;                // of bytes that consist of several fields
};

/// Each field is written as a whole word, over what comes behind it.
inline constexpr Word kFieldSlack = 8;
/// Room for a heap binary of any size, and the slack.
inline constexpr Word kAnyHeapBinaryWords = 2 + words_for_bytes(kHeapBinaryMaxBytes + kFieldSlack);

inline constexpr Word big_endian(Word w) {
  return std::endian::native == std::endian::little ? __builtin_bswap64(w) : w;
}
inline constexpr Word little_endian(Word w) {
  return std::endian::native == std::endian::little ? w : __builtin_bswap64(w);
}
inline void put_word(std::uint8_t* to, Word w) { std::memcpy(to, &w, sizeof w); }

/// What a sub-binary of whole bytes that can be appended to has behind its sizes.
inline constexpr Word kWritableBytes =
    std::bit_cast<Word>(std::array<std::uint8_t, sizeof(Word)>{0, 0, true, 0, 0, 0, 0, 0});
inline Word* details_of(SubBinary* s) { return reinterpret_cast<Word*>(&s->bit_size); }

/// Begins behind the end of `source`, in place. room: all bytes of fixed size, and the slack.
/// False: this cannot be done there.
[[gnu::always_inline]] inline bool begin_append(Term source, Word room, BitsUnderWay* bits) {
  if (!source.is_boxed()) [[unlikely]]
    return false;
  auto* s = reinterpret_cast<SubBinary*>(source.boxed_ptr());
  if (s->header != Term::header(Term::Sub::kSubBinary, 4) || *details_of(s) != kWritableBytes) [[unlikely]]
    return false;
  const auto* r = reinterpret_cast<const RefcBinary*>(s->original.ptr());
  if (r->header.header_sub() != Term::Sub::kRefcBinary || !(r->flags & RefcBinary::kWritable)) [[unlikely]]
    return false;
  const Binary* b = r->binary;
  // A second reference, anywhere, may be read by another thread.
  if (b->references.load(std::memory_order_acquire) != 1) [[unlikely]]
    return false;
  bits->out = r->bytes + s->offset_bytes + s->size_bytes;
  bits->limit = b->data + b->capacity_bytes - room;
  return bits->out <= bits->limit;
}

/// Ends what begin_append has begun. fixed: the bytes of fixed size. Returns how many bytes there
/// are now in the writable binary.
[[gnu::always_inline]] inline Word end_append(const SubBinary& source, Word fixed, const BitsUnderWay& bits) {
  auto* r = reinterpret_cast<RefcBinary*>(source.original.ptr());
  const auto used = static_cast<Word>(bits.out + fixed - r->bytes);
  r->binary->used_bytes = used;
  r->size_bytes = used;
  r->flags = RefcBinary::kWritable | RefcBinary::kActiveWriter;
  return used;
}

/// Copies the first `size` units of a binary, or all of it (unit 0), to `at` bytes behind out.
/// Returns where `out` is then. nullptr: it is not of whole bytes, or there is no room.
std::uint8_t* put_binary(const BitsUnderWay& bits, Word at, Term source, Term size, unsigned unit);
/// As above, for a character.
std::uint8_t* put_utf8(const BitsUnderWay& bits, Word at, Term value);

}  // namespace vmrun

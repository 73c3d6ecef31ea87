// SPDX-License-Identifier: Apache-2.0
#include <endian.h>
#include <zlib.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <memory>

#include "vm/base/allocate.hpp"
#include "vm/term/big.hpp"
#include "vm/term/bits.hpp"
#include "vm/term/external_decoder.hpp"
#include "vm/term/external_tags.hpp"
#include "vm/term/map.hpp"

namespace vmrun {

namespace {

// What follows etf::kLocal, before the term.
constexpr std::size_t kMarkBytes = 8;

bool is_local_mark(const std::uint8_t* bytes) {
  Word mark;
  std::memcpy(&mark, bytes, kMarkBytes);
  return be64toh(mark) == local_encoding_mark();
}

}  // namespace

Decoder::~Decoder() {
  while (!maps_.empty()) free_bytes(maps_.pop().pairs);  // left by a malformed term
}

[[gnu::no_stack_protector]] Decoded Decoder::run() {
  Term root;
  push(&root, 1, 1);
  for (;;) {
    while (now_.remaining) {
      Term* slot = now_.next;
      now_.next += now_.stride;
      --now_.remaining;
      if (!read(slot)) return {kNonValue, position(), error_};
    }
    if (now_.ends_map && !finish_map()) return {kNonValue, position(), error_};
    if (later_.empty()) return {root, position(), nullptr};
    now_ = later_.pop();
  }
}

bool Decoder::read_local(Term* slot) {
  if (!need(kMarkBytes + 1)) return false;
  if (!is_local_mark(p_)) return fail("a term that another machine wrote for itself");
  p_ += kMarkBytes;
  if (*p_ == etf::kLocal) return fail("a local term that is nothing but a local term");
  is_local_ = true;
  return read(slot);
}

Term* Decoder::nil_filled(Word words) {
  Term* p = heap_.alloc(words);
  std::fill_n(p, words, Term::nil());
  return p;
}

[[gnu::no_stack_protector]] bool Decoder::read(Term* slot) {
  if (!need(1)) return false;
  switch (u8()) {
    case etf::kSmallInteger:
      if (!need(1)) return false;
      *slot = Term::small(u8());
      return true;
    case etf::kInteger:
      if (!need(4)) return false;
      *slot = Term::small(static_cast<std::int32_t>(unsigned_be(4)));
      return true;
    case etf::kSmallBig: return need(1) && read_big(u8(), slot);
    case etf::kLargeBig: return need(4) && read_big(unsigned_be(4), slot);
    case etf::kNewFloat: {
      if (!need(8)) return false;
      *slot = Term::nil();
      const double d = std::bit_cast<double>(unsigned_be(8));
      if (!std::isfinite(d)) return fail("a float that is no number");
      Term* hp = heap_.alloc(2);
      *slot = make_float(hp, d);
      return true;
    }
    case etf::kFloat: return read_float_text(slot);
    case etf::kAtom:
    case etf::kAtomReference:
    case etf::kShortAtomNumber:
    case etf::kAtomNumber:
    case etf::kSmallAtom:
    case etf::kAtomUtf8:
    case etf::kSmallAtomUtf8: {
      --p_;
      Term atom;
      if (!read_atom(&atom)) return false;
      *slot = atom;
      return true;
    }
    case etf::kNil: *slot = Term::nil(); return true;
    case etf::kString: return read_string(slot);
    case etf::kList: return read_list(slot);
    case etf::kSmallTuple: return need(1) && read_tuple(u8(), slot);
    case etf::kLargeTuple: return need(4) && read_tuple(unsigned_be(4), slot);
    case etf::kMap: return read_map(slot);
    case etf::kBinary: return read_binary(slot);
    case etf::kBitBinary: return read_bits(slot);
    case etf::kPid: return read_pid(1, slot);
    case etf::kNewPid: return read_pid(4, slot);
    case etf::kPort: return read_port(4, 1, slot);
    case etf::kNewPort: return read_port(4, 4, slot);
    case etf::kV4Port: return read_port(8, 4, slot);
    case etf::kReference: return read_reference(1, 1, false, slot);
    case etf::kNewReference: return need(2) && read_reference(unsigned_be(2), 1, true, slot);
    case etf::kNewerReference: return need(2) && read_reference(unsigned_be(2), 4, true, slot);
    case etf::kExport: return read_external_fun(slot);
    case etf::kNewFun: return read_fun(slot);
    case etf::kRecord: return read_record(slot);
    case etf::kLocal: return read_local(slot);
  }
  --p_;
  return fail("an unknown tag");
}

[[gnu::noinline]] bool Decoder::read_float_text(Term* slot) {
  constexpr std::size_t kBytes = 31;
  if (!need(kBytes)) return false;
  char text[kBytes + 1] = {};
  std::memcpy(text, p_, kBytes);
  char* stop;
  const double d = std::strtod(text, &stop);
  if (stop == text || *stop != 0 || !std::isfinite(d)) return fail("a float that is no number");
  p_ += kBytes;
  Term* hp = heap_.alloc(2);
  *slot = make_float(hp, d);
  return true;
}

bool Decoder::read_big(Word bytes, Term* slot) {
  if (!need(bytes + 1)) return false;
  const bool negative = u8() != 0;
  const Term t = integer_from_bytes(heap_, p_, bytes, true, negative);
  if (!t) return fail("an integer that is too large");
  p_ += bytes;
  *slot = t;
  return true;
}

bool Decoder::read_binary(Term* slot) {
  if (!need(4)) return false;
  const Word n = unsigned_be(4);
  if (!need(n)) return false;
  Binary* owner = options_.owner;
  // A small part must not keep a much larger binary alive.
  if (owner && n > kHeapBinaryMaxBytes && n >= owner->capacity_bytes / 4) {
    owner->retain();
    *slot = make_refc_binary(heap_, owner, const_cast<std::uint8_t*>(p_), n);
  } else {
    *slot = make_binary(heap_, p_, n);
  }
  p_ += n;
  return true;
}

bool Decoder::read_bits(Term* slot) {
  if (!need(5)) return false;
  const Word n = unsigned_be(4);
  const unsigned last = u8();
  if (!need(n)) return false;
  if (n == 0 ? last != 0 || release_has(Trait::kBitsHaveBytes) : last < 1 || last > 8)
    return fail("a bit string with an impossible last byte");
  *slot = make_bitstring(heap_, p_, 0, n == 0 ? 0 : (n - 1) * 8 + last);
  p_ += n;
  return true;
}

bool Decoder::read_string(Term* slot) {
  if (!need(2)) return false;
  const Word n = unsigned_be(2);
  if (!need(n)) return false;
  Term list = Term::nil();
  Term* hp = heap_.alloc(2 * n);
  for (Word i = n; i-- > 0;) list = make_cons(hp, Term::small(p_[i]), list);
  p_ += n;
  *slot = list;
  return true;
}

bool Decoder::read_list(Term* slot) {
  if (!need(4)) return false;
  const Word n = unsigned_be(4);
  if (n > left()) return fail("a list longer than the data");  // every element takes a byte
  if (n == 0) {                                                // only a tail
    push(slot, 1, 1);
    return true;
  }
  Term* cells = heap_.alloc(2 * n);
  for (Word i = 0; i < n; ++i) {
    cells[2 * i] = Term::nil();
    cells[2 * i + 1] = i + 1 < n ? Term::list(cells + 2 * i + 2) : Term::nil();
  }
  *slot = Term::list(cells);
  push(cells + 2 * n - 1, 1, 1);
  push(cells, n, 2);
  return true;
}

bool Decoder::read_tuple(Word arity, Term* slot) {
  if (arity > left()) return fail("a tuple larger than the data");
  if (arity == 0) {
    *slot = empty_tuple();
    return true;
  }
  if (arity >= 1u << 24) return fail("a tuple that is too large");
  Term* object = nil_filled(arity + 1);
  object[0] = Term::header(Term::Sub::kTuple, arity);
  *slot = Term::boxed(object);
  push(object + 1, arity, 1);
  return true;
}

bool Decoder::read_map(Term* slot) {
  if (!need(4)) return false;
  const Word n = unsigned_be(4);
  if (n > left() / 2 || n > UINT32_MAX / 2) return fail("a map larger than the data");
  *slot = Term::nil();
  if (n == 0) {
    *slot = empty_map(heap_);
    return true;
  }
  auto* pairs = static_cast<Term*>(allocate_bytes(2 * n * sizeof(Term), "the pairs of a map"));
  maps_.push({slot, pairs, n});
  push(pairs, 2 * n, 1, true);
  return true;
}

[[gnu::no_stack_protector]] bool Decoder::finish_map() {
  const MapFrame f = maps_.pop();
  bool duplicates = false;
  const Term map = map_from_pairs(heap_, f.pairs, f.count, &duplicates);
  free_bytes(f.pairs);
  if (duplicates) return fail("a map with a key twice");
  *f.result = map;
  return true;
}

namespace {

Decoded decode_plain(TermSpace& heap, const std::uint8_t* data, std::size_t size,
                     const DecodeOptions& options) {
  return Decoder(heap, data, size, options).run();
}

/// Decodes the bytes behind a `compressed` tag: the 32-bit length of the plain data, then a zlib
/// stream.
Decoded decode_compressed(TermSpace& heap, const std::uint8_t* data, std::size_t size,
                          const DecodeOptions& options) {
  if (size < 4) return {kNonValue, 0, "ends in the middle of a term"};
  const std::size_t plain_size = static_cast<std::size_t>(data[0]) << 24 |
                                 static_cast<std::size_t>(data[1]) << 16 |
                                 static_cast<std::size_t>(data[2]) << 8 | data[3];
  // Deflate shrinks by a factor of 1032 at most: a larger claim is false and must not cost memory.
  if (plain_size / 1040 > size) return {kNonValue, 0, "compressed data that cannot be that long"};
  auto plain = std::make_unique_for_overwrite<std::uint8_t[]>(plain_size + 1);
  z_stream z{};
  z.next_in = const_cast<Bytef*>(data + 4);
  z.avail_in = static_cast<uInt>(std::min<std::size_t>(size - 4, UINT32_MAX));
  z.next_out = plain.get();
  z.avail_out = static_cast<uInt>(plain_size);
  if (inflateInit(&z) != Z_OK) return {kNonValue, 0, "compressed data that does not inflate"};
  const int status = inflate(&z, Z_FINISH);
  const std::size_t consumed = z.total_in, produced = z.total_out;
  inflateEnd(&z);
  if (status != Z_STREAM_END || produced != plain_size)
    return {kNonValue, 0, "compressed data that does not inflate"};
  DecodeOptions of_copy = options;
  of_copy.owner = nullptr;  // these bytes go away
  Decoded d = decode_plain(heap, plain.get(), plain_size, of_copy);
  if (d.term && d.used_bytes != plain_size) return {kNonValue, 0, "more than one term in compressed data"};
  d.used_bytes = d.term ? consumed + 4 : 0;
  return d;
}

}  // namespace

Decoded decode_external(TermSpace& heap, const std::uint8_t* data, std::size_t size,
                        const DecodeOptions& options) {
  std::size_t skipped = 0;
  if (options.version_byte) {
    if (size == 0 || data[0] != etf::kVersion) return {kNonValue, 0, "no version byte 131 at the start"};
    skipped = 1;
  }
  if (options.version_byte && size > skipped + kMarkBytes && data[skipped] == etf::kLocal) {
    if (!is_local_mark(data + skipped + 1))
      return {kNonValue, skipped, "a term that another machine wrote for itself"};
    DecodeOptions inner = options;
    inner.local = true;
    inner.version_byte = false;
    skipped += 1 + kMarkBytes;
    Decoded d = decode_external(heap, data + skipped, size - skipped, inner);
    d.used_bytes += skipped;
    return d;
  }
  const bool compressed = size > skipped && data[skipped] == etf::kCompressed;
  if (compressed) ++skipped;
  Decoded d = compressed ? decode_compressed(heap, data + skipped, size - skipped, options)
                         : decode_plain(heap, data + skipped, size - skipped, options);
  d.used_bytes += skipped;
  return d;
}

}  // namespace vmrun

#include <zlib.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "vm/term/atom.hpp"
#include "vm/term/big.hpp"
#include "vm/term/bits.hpp"
#include "vm/term/external.hpp"
#include "vm/term/external_tags.hpp"
#include "vm/term/fun.hpp"
#include "vm/term/map.hpp"
#include "vm/term/node.hpp"
#include "vm/term/resource_hooks.hpp"

namespace vmrun {

namespace {

/// Reads one term. Work in progress is a stack of frames, each a run of term slots still to be
/// filled; a slot belongs to an object in the heap that has been filled with [] before, so that a
/// failure leaves well-formed (if meaningless) words behind.
class Decoder {
 public:
  Decoder(TermSpace& heap, const std::uint8_t* data, std::size_t size, bool safe)
      : heap_(heap), begin_(data), p_(data), end_(data + size), safe_(safe) {}

  Decoded run() {
    Term root;
    push(&root, 1, 1);
    while (!frames_.empty()) {
      Frame& f = frames_.back();
      if (f.remaining == 0) {
        if (f.pairs && !finish_map(f)) return fail_result();
        frames_.pop_back();
        continue;
      }
      Term* slot = f.next;
      f.next += f.stride;
      --f.remaining;
      if (!read(slot)) return fail_result();
    }
    return {root, position(), nullptr};
  }

 private:
  struct Frame {
    Term* next;
    Word remaining;
    Word stride;
    Term* result = nullptr;  // of a map, which is built when its pairs are there
    std::unique_ptr<Term[]> pairs = nullptr;
    Word pair_count = 0;
  };

  std::size_t position() const { return static_cast<std::size_t>(p_ - begin_); }
  std::size_t left() const { return static_cast<std::size_t>(end_ - p_); }
  Decoded fail_result() const { return {kNonValue, position(), error_}; }
  bool fail(const char* why) {
    error_ = why;
    return false;
  }
  bool need(std::size_t n) { return left() >= n || fail("ends in the middle of a term"); }
  void push(Term* slots, Word count, Word stride) { frames_.push_back({slots, count, stride}); }

  std::uint8_t u8() { return *p_++; }
  Word unsigned_be(unsigned bytes) {
    Word v = 0;
    for (unsigned i = 0; i < bytes; ++i) v = v << 8 | *p_++;
    return v;
  }

  Term* nil_filled(Word words) {
    Term* p = heap_.alloc(words);
    std::fill_n(p, words, Term::nil());
    return p;
  }

  bool intern(std::string_view utf8, Term* out) {
    *out = safe_ ? existing_atom(utf8) : try_intern_atom(utf8);
    return out->is_value() || fail(safe_ ? "an atom that does not exist" : kAtomTableFull);
  }

  bool read_utf8_atom(std::size_t bytes, Term* out) {
    if (!need(bytes)) return false;
    const std::string_view text(reinterpret_cast<const char*>(p_), bytes);
    std::size_t characters = 0;
    MatchContext m{};
    m.base = p_;
    m.size_bits = bytes * 8;
    while (bits_left(m)) {
      if (!bs_get_utf8(m)) return fail("an atom that is not UTF-8");
      ++characters;
    }
    if (characters > kAtomMaxCharacters) return fail("an atom of more than 255 characters");
    p_ += bytes;
    return intern(text, out);
  }

  bool read_latin1_atom(std::size_t bytes, Term* out) {
    if (!need(bytes)) return false;
    if (bytes > kAtomMaxCharacters) return fail("an atom of more than 255 characters");
    char text[2 * kAtomMaxCharacters];
    std::size_t n = 0;
    for (std::size_t i = 0; i < bytes; ++i) {
      const std::uint8_t c = p_[i];
      if (c >= 0x80) text[n++] = static_cast<char>(0xC0 | c >> 6);
      text[n++] = static_cast<char>(c < 0x80 ? c : 0x80 | (c & 0x3F));
    }
    p_ += bytes;
    return intern({text, n}, out);
  }

  /// An atom where only an atom may stand (node, module and function names).
  bool read_atom(Term* out) {
    if (!need(2)) return false;
    switch (u8()) {
      case etf::kAtom: return need(2) && read_latin1_atom(unsigned_be(2), out);
      case etf::kSmallAtom: return read_latin1_atom(u8(), out);
      case etf::kAtomUtf8: return need(2) && read_utf8_atom(unsigned_be(2), out);
      case etf::kSmallAtomUtf8: return read_utf8_atom(u8(), out);
    }
    return fail("an atom was expected");
  }

  /// A non-negative integer where only one may stand (old fun identities).
  bool read_plain_integer(Word* out) {
    if (!need(2)) return false;
    switch (u8()) {
      case etf::kSmallInteger: *out = u8(); return true;
      case etf::kInteger:
        if (!need(4)) return false;
        *out = unsigned_be(4);
        return true;
      case etf::kSmallBig: {
        const unsigned n = u8();
        if (n > 8 || !need(n + 1u)) return fail("an integer that is too large");
        ++p_;
        *out = 0;
        for (unsigned i = 0; i < n; ++i) *out |= Word{*p_++} << (8 * i);
        return true;
      }
    }
    return fail("an integer was expected");
  }

  bool read(Term* slot);
  bool read_float_text(Term* slot);
  bool read_big(Word bytes, Term* slot);
  bool read_bits(Term* slot);
  bool read_string(Term* slot);
  bool read_list(Term* slot);
  bool read_tuple(Word arity, Term* slot);
  bool read_map(Term* slot);
  bool finish_map(Frame& f);
  bool read_pid(unsigned creation_bytes, Term* slot);
  bool read_port(unsigned id_bytes, unsigned creation_bytes, Term* slot);
  bool read_reference(Word count, unsigned creation_bytes, bool creation_first, Term* slot);
  bool read_external_fun(Term* slot);
  bool read_fun(Term* slot);
  Term external_identifier(Term::Sub sub, Node* node, const Word* data, Word words);

  TermSpace& heap_;
  const std::uint8_t* begin_;
  const std::uint8_t* p_;
  const std::uint8_t* end_;
  bool safe_;
  const char* error_ = nullptr;
  std::vector<Frame> frames_;
};

bool Decoder::read(Term* slot) {
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
    case etf::kBinary: {
      if (!need(4)) return false;
      const Word n = unsigned_be(4);
      if (!need(n)) return false;
      *slot = make_binary(heap_, p_, n);
      p_ += n;
      return true;
    }
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
  }
  --p_;
  return fail("an unknown tag");
}

bool Decoder::read_float_text(Term* slot) {
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

bool Decoder::read_bits(Term* slot) {
  if (!need(5)) return false;
  const Word n = unsigned_be(4);
  const unsigned last = u8();
  if (!need(n)) return false;
  if (n == 0 ? last != 0 : last < 1 || last > 8) return fail("a bit string with an impossible last byte");
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
  if (n > left() / 2) return fail("a map larger than the data");
  *slot = Term::nil();
  auto pairs = std::make_unique<Term[]>(2 * n + 1);
  Frame f{pairs.get(), 2 * n, 1};
  f.result = slot;
  f.pair_count = n;
  f.pairs = std::move(pairs);
  frames_.push_back(std::move(f));
  return true;
}

bool Decoder::finish_map(Frame& f) {
  bool duplicates = false;
  const Term map = map_from_pairs(heap_, f.pairs.get(), f.pair_count, &duplicates);
  if (duplicates) return fail("a map with a key twice");
  *f.result = map;
  return true;
}

Term Decoder::external_identifier(Term::Sub sub, Node* node, const Word* data, Word words) {
  auto* o = reinterpret_cast<ExternalObject*>(heap_.alloc(3 + words));
  o->header = Term::header(sub, 2 + words);
  o->node = node;
  for (Word i = 0; i < words; ++i) o->data[i] = data[i];
  heap_.link_off_heap(reinterpret_cast<OffHeapObject*>(o), 0);
  return Term::boxed(&o->header);
}

bool Decoder::read_pid(unsigned creation_bytes, Term* slot) {
  Term node;
  if (!read_atom(&node) || !need(8 + creation_bytes)) return false;
  const Word id = unsigned_be(4), serial = unsigned_be(4);
  const auto creation = static_cast<std::uint32_t>(unsigned_be(creation_bytes));
  if (is_local_node(node, creation)) {
    if (id >> 28 || serial >> 28) return fail("a pid out of range");
    *slot = Term::pid(serial << 28 | id);
    return true;
  }
  const Word data = serial << 32 | id;
  *slot = external_identifier(Term::Sub::kExternalPid, node_entry(node, creation), &data, 1);
  return true;
}

bool Decoder::read_port(unsigned id_bytes, unsigned creation_bytes, Term* slot) {
  Term node;
  if (!read_atom(&node) || !need(id_bytes + creation_bytes)) return false;
  const Word id = unsigned_be(id_bytes);
  const auto creation = static_cast<std::uint32_t>(unsigned_be(creation_bytes));
  if (is_local_node(node, creation)) {
    if (id >> 56) return fail("a port out of range");
    *slot = Term::port(id);
    return true;
  }
  *slot = external_identifier(Term::Sub::kExternalPort, node_entry(node, creation), &id, 1);
  return true;
}

bool Decoder::read_reference(Word count, unsigned creation_bytes, bool creation_first, Term* slot) {
  Term node;
  if (count < 1 || count > 5) return fail("a reference of impossible length");
  if (!read_atom(&node) || !need(4 * count + creation_bytes)) return false;
  std::uint32_t creation = creation_first ? static_cast<std::uint32_t>(unsigned_be(creation_bytes)) : 0;
  std::uint32_t numbers[6] = {};
  for (Word i = 0; i < count; ++i) numbers[i] = static_cast<std::uint32_t>(unsigned_be(4));
  if (!creation_first) creation = u8();
  if (is_local_node(node, creation)) {
    if (count > 3) return fail("a reference of impossible length");
    if (const Term resource = resource_hooks.find(numbers, heap_)) {
      *slot = resource;
      return true;
    }
    auto* r = reinterpret_cast<RefObject*>(heap_.alloc(3));
    r->header = Term::header(Term::Sub::kRef, 2);
    std::memcpy(r->numbers, numbers, sizeof r->numbers);
    r->unused = 0;
    *slot = Term::boxed(&r->header);
    return true;
  }
  // Up to three numbers take two words, four and five three, so that the length tells three from
  // five (others are padded with 0).
  Word data[3];
  std::memcpy(data, numbers, sizeof data);
  *slot = external_identifier(Term::Sub::kExternalRef, node_entry(node, creation), data, count <= 3 ? 2 : 3);
  return true;
}

bool Decoder::read_external_fun(Term* slot) {
  Term module, function;
  if (!read_atom(&module) || !read_atom(&function) || !need(2)) return false;
  if (u8() != etf::kSmallInteger) return fail("an arity was expected");
  const unsigned arity = u8();
  Export* e = safe_ ? find_export(module, function, arity) : export_entry(module, function, arity);
  if (!e) return fail("an external fun that does not exist");
  auto* f = reinterpret_cast<FunObject*>(heap_.alloc(sizeof(FunObject) / sizeof(Term)));
  *f = FunObject{};
  f->header = Term::header(Term::Sub::kFun, sizeof(FunObject) / sizeof(Term) - 1);
  f->exported = e;
  f->arity = static_cast<std::uint8_t>(arity);
  f->is_external = 1;
  f->creator = Term::nil();
  *slot = Term::boxed(&f->header);
  return true;
}

bool Decoder::read_fun(Term* slot) {
  if (!need(4 + 1 + 16 + 4 + 4)) return false;
  p_ += 4;  // its size, which the parts give as well
  const unsigned arity = u8();
  const std::uint8_t* uniq = p_;
  p_ += 16;
  const auto index = static_cast<std::uint32_t>(unsigned_be(4)),
             free_count = static_cast<std::uint32_t>(unsigned_be(4));
  Term module, creator;
  Word old_index, old_uniq;
  if (!read_atom(&module) || !read_plain_integer(&old_index) || !read_plain_integer(&old_uniq) || !need(1))
    return false;
  const unsigned tag = u8();
  if (tag != etf::kPid && tag != etf::kNewPid) return fail("a pid was expected");
  if (!read_pid(tag == etf::kPid ? 1 : 4, &creator)) return false;
  if (free_count > left() || free_count > 255) return fail("a fun with more variables than data");
  FunEntry* entry = fun_entry(module, uniq, index, static_cast<std::uint32_t>(old_uniq), arity, free_count);
  if (entry->arity != arity || entry->free_count != free_count)
    return fail("a fun that does not fit the module's");
  const Word words = sizeof(FunObject) / sizeof(Term) + free_count;
  Term* object = nil_filled(words);
  auto* f = reinterpret_cast<FunObject*>(object);
  f->header = Term::header(Term::Sub::kFun, words - 1);
  f->entry = entry;
  f->arity = static_cast<std::uint8_t>(arity);
  f->is_external = 0;
  f->unused[0] = f->unused[1] = 0;
  f->free_count = free_count;
  f->creator = creator.is_local_pid() ? creator : Term::nil();
  f->reserved = 0;
  *slot = Term::boxed(object);
  push(f->environment(), free_count, 1);
  return true;
}

Decoded decode_plain(TermSpace& heap, const std::uint8_t* data, std::size_t size, bool safe) {
  return Decoder(heap, data, size, safe).run();
}

/// The bytes behind a `compressed` tag: 32-bit length of the plain data, then a zlib stream.
Decoded decode_compressed(TermSpace& heap, const std::uint8_t* data, std::size_t size, bool safe) {
  if (size < 4) return {kNonValue, 0, "ends in the middle of a term"};
  const std::size_t plain_size = static_cast<std::size_t>(data[0]) << 24 |
                                 static_cast<std::size_t>(data[1]) << 16 |
                                 static_cast<std::size_t>(data[2]) << 8 | data[3];
  // Deflate shrinks by a factor of 1032 at most: a larger claim is a lie that must not cost memory.
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
  Decoded d = decode_plain(heap, plain.get(), plain_size, safe);
  if (d.term && d.used_bytes != plain_size) return {kNonValue, 0, "more than one term in compressed data"};
  d.used_bytes = d.term ? consumed + 4 : 0;
  return d;
}

}  // namespace

Decoded decode_external(TermSpace& heap, const std::uint8_t* data, std::size_t size, DecodeOptions options) {
  std::size_t skipped = 0;
  if (options.version_byte) {
    if (size == 0 || data[0] != etf::kVersion) return {kNonValue, 0, "no version byte 131 at the start"};
    skipped = 1;
  }
  const bool compressed = size > skipped && data[skipped] == etf::kCompressed;
  if (compressed) ++skipped;
  Decoded d = compressed ? decode_compressed(heap, data + skipped, size - skipped, options.safe)
                         : decode_plain(heap, data + skipped, size - skipped, options.safe);
  d.used_bytes += skipped;
  return d;
}

}  // namespace vmrun

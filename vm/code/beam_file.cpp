// SPDX-License-Identifier: Apache-2.0
#include "vm/code/beam_file.hpp"

#include <md5.h>
#include <zlib.h>

#include <cstring>
#include <utility>

#include "vm/code/limits.hpp"
#include "vm/code/opcodes_generated.hpp"
#include "vm/term/atom.hpp"

namespace vmrun {
namespace {

/// Reads a chunk. It throws nothing: the first error sticks and makes every later read return
/// zeros, so callers check once at the end.
class Reader {
 public:
  Reader(const std::uint8_t* file, const std::uint8_t* p, std::size_t n, const char* chunk, BeamError* error)
      : file_(file), p_(p), end_(p + n), chunk_(chunk), error_(error) {}

  bool ok() const { return ok_; }
  bool at_end() const { return p_ == end_; }
  std::size_t left() const { return static_cast<std::size_t>(end_ - p_); }
  std::size_t offset() const { return static_cast<std::size_t>(p_ - file_); }
  const std::uint8_t* position() const { return p_; }

  bool fail(const std::string& what) {
    if (ok_) {
      ok_ = false;
      error_->message = std::string("chunk ") + chunk_ + ": " + what;
      error_->offset = offset();
      p_ = end_;
    }
    return false;
  }
  std::uint8_t u8() {
    if (!need(1)) return 0;
    return *p_++;
  }
  std::uint32_t u32() {
    if (!need(4)) return 0;
    p_ += 4;
    return std::uint32_t{p_[-4]} << 24 | p_[-3] << 16 | p_[-2] << 8 | p_[-1];
  }
  const std::uint8_t* bytes(std::size_t n) {
    if (!need(n)) return nullptr;
    p_ += n;
    return p_ - n;
  }
  /// Reads a count of things that take at least `least` bytes each. A count that the chunk has no
  /// room for is an error, so a false count cannot make the machine allocate much.
  std::uint32_t count(const char* what, std::size_t least = 1) {
    const std::uint32_t n = u32();
    if (ok_ && n > left() / least) fail(std::string("more ") + what + " announced than there is room for");
    return ok_ ? n : 0;
  }

 private:
  bool need(std::size_t n) {
    if (left() < n || !ok_) return fail("ends too early");
    return true;
  }
  const std::uint8_t* file_;
  const std::uint8_t* p_;
  const std::uint8_t* end_;
  const char* chunk_;
  BeamError* error_;
  bool ok_ = true;
};

// Compact terms of the Code chunk: the low three bits are the tag, the other bits say how the value
// is written.
enum Tag : unsigned {
  kTagU,
  kTagI,
  kTagA,
  kTagX,
  kTagY,
  kTagF,
  kTagH,
  kTagZ,
  kTagList = 0x17,
  kTagFloat = 0x27,
  kTagAlloc = 0x37,
  kTagLiteral = 0x47,
  kTagTyped = 0x57
};

struct CompactValue {
  unsigned tag = 0;
  SWord value = 0;
  const std::uint8_t* big = nullptr;  // value does not fit: two's complement, big-endian
  unsigned big_bytes = 0;
};

struct Chunk {
  char name[5];
  const std::uint8_t* data;
  std::size_t size;
};

/// Calls `visit` for one chunk after the other, until it returns false. Returns false and sets the
/// error when the file is malformed before that.
template <class Visit>
bool for_each_chunk(const std::uint8_t* bytes, std::size_t size, BeamError* error, Visit visit) {
  const auto fail = [&](const char* what, std::size_t offset) {
    *error = {what, offset};
    return false;
  };
  if (size < 12 || std::memcmp(bytes, "FOR1", 4) != 0 || std::memcmp(bytes + 8, "BEAM", 4) != 0)
    return fail("not a .beam file (no FOR1…BEAM header)", 0);
  Reader form(bytes, bytes + 4, 4, "FOR1", error);
  const std::size_t length = form.u32();
  if (length < 4 || length > size - 8) return fail("file is shorter than its header says", size);
  Reader r(bytes, bytes + 12, length - 4, "directory", error);
  while (r.left() >= 8) {
    Chunk c{};
    std::memcpy(c.name, r.bytes(4), 4);
    c.size = r.u32();
    c.data = r.bytes(c.size);
    if (!r.ok()) return false;
    if (!visit(c)) break;
    const std::size_t padding = -c.size & 3;
    if (r.left() >= padding) r.bytes(padding);
  }
  return true;
}

class Parser {
 public:
  Parser(const std::uint8_t* bytes, std::size_t size, BeamFile* out, BeamError* error)
      : bytes_(bytes), size_(size), f_(*out), error_(error) {}

  bool parse() {
    return find_chunks() && atoms() && literals() && strings() && imports() && line_table() && types() &&
           debug_info() && code() && functions("ExpT", &f_.exports) && functions("LocT", &f_.locals) &&
           lambdas() && records() && rest() && digest();
  }

 private:
  bool fail(const std::string& what, std::size_t offset = 0) {
    error_->message = what;
    error_->offset = offset;
    return false;
  }

  bool find_chunks() {
    return for_each_chunk(bytes_, size_, error_, [&](const Chunk& c) {
      chunks_.push_back(c);
      return true;
    });
  }

  const Chunk* chunk(const char* name) const {
    for (const Chunk& c : chunks_)
      if (!std::strcmp(c.name, name)) return &c;
    return nullptr;
  }
  Reader open(const Chunk* c) { return Reader(bytes_, c->data, c->size, c->name, error_); }

  bool atoms() {
    const Chunk* c = chunk("AtU8");
    if (!c) c = chunk("Atom");
    if (!c) return fail("chunk AtU8 is missing");
    Reader r = open(c);
    std::uint32_t n = r.u32();
    // OTP 28 marks tables with long atoms by a negative count; lengths are then compact numbers.
    const bool long_form = static_cast<std::int32_t>(n) < 0;
    if (long_form) n = -n;
    if (n == 0 || n > r.left()) return r.fail("bad number of atoms");
    f_.atoms.resize(n + 1);
    for (std::uint32_t i = 1; i <= n && r.ok(); i++) {
      std::size_t length;
      if (long_form) {
        CompactValue v;
        if (!compact(r, &v) || v.tag != kTagU || v.value < 0) return r.fail("bad atom length");
        length = static_cast<std::size_t>(v.value);
      } else {
        length = r.u8();
      }
      const auto* text = reinterpret_cast<const char*>(r.bytes(length));
      if (!text) return false;
      std::string_view view(text, length);
      std::string converted;
      if (c->name[2] == 'o') {  // "Atom": Latin-1; "AtU8" is UTF-8
        for (unsigned char ch : view) {
          if (ch < 0x80) converted += static_cast<char>(ch);
          else converted += {static_cast<char>(0xC0 | ch >> 6), static_cast<char>(0x80 | (ch & 0x3F))};
        }
        view = converted;
      } else if (!valid_atom_text(view)) {
        return r.fail("atom " + std::to_string(i) + " is not UTF-8 of at most 255 characters");
      }
      f_.atoms[i] = try_intern_atom(view);
      if (!f_.atoms[i].is_value()) return r.fail("the atom table is full");
    }
    f_.module = f_.atoms[1];
    return r.ok();
  }

  static bool valid_atom_text(std::string_view s) {
    std::size_t characters = 0;
    for (std::size_t i = 0; i < s.size(); characters++) {
      const auto c = static_cast<unsigned char>(s[i]);
      const unsigned more = c < 0x80                ? 0
                            : c >= 0xC2 && c < 0xE0 ? 1
                            : c >= 0xE0 && c < 0xF0 ? 2
                            : c >= 0xF0 && c < 0xF5 ? 3
                                                    : 9;
      if (more == 9 || i + more >= s.size()) return false;
      for (unsigned k = 1; k <= more; k++)
        if ((s[i + k] & 0xC0) != 0x80) return false;
      i += more + 1;
    }
    return characters <= kAtomMaxCharacters;
  }

  Term atom(Reader& r, Word index) {
    if (index == 0 || index >= f_.atoms.size()) {
      r.fail("atom " + std::to_string(index) + " is not in the table");
      return atoms::undefined;
    }
    return f_.atoms[index];
  }

  bool literals() {
    const Chunk* c = chunk("LitT");
    if (!c) return true;
    Reader r = open(c);
    const std::uint32_t plain_size = r.u32();
    const std::uint8_t* data = r.position();
    std::size_t size = r.left();
    if (plain_size != 0) {  // 0: stored, not compressed (OTP 28)
      if (plain_size > (1u << 30) || plain_size / 1100 > size)
        return r.fail("impossible size of inflated literals");
      std::string plain(plain_size, 0);
      uLongf length = plain_size;
      if (uncompress(reinterpret_cast<Bytef*>(plain.data()), &length, data, size) != Z_OK ||
          length != plain_size)
        return r.fail("literals do not inflate");
      f_.storage.push_back(std::move(plain));
      data = reinterpret_cast<const std::uint8_t*>(f_.storage.back().data());
      size = plain_size;
    }
    Reader l(data, data, size, "LitT (inflated)", error_);
    const std::uint32_t n = l.count("literals", 4);
    for (std::uint32_t i = 0; i < n && l.ok(); i++) {
      const std::uint32_t bytes = l.u32();
      const std::uint8_t* at = l.bytes(bytes);
      if (at) f_.literals.push_back({at, bytes});
    }
    file_literals_ = f_.literals.size();
    return l.ok();
  }

  bool strings() {
    if (const Chunk* c = chunk("StrT")) f_.strings = {c->data, c->size};
    return true;
  }

  bool imports() {
    const Chunk* c = chunk("ImpT");
    if (!c) return fail("chunk ImpT is missing");
    Reader r = open(c);
    const std::uint32_t n = r.count("imports", 12);
    for (std::uint32_t i = 0; i < n && r.ok(); i++) {
      BeamFile::Import import;
      import.module = atom(r, r.u32());
      import.function = atom(r, r.u32());
      import.arity = r.u32();
      if (r.ok() && import.arity > 255) return r.fail("import of arity " + std::to_string(import.arity));
      f_.imports.push_back(import);
    }
    return r.ok();
  }

  bool line_table() {
    const Chunk* c = chunk("Line");
    f_.lines.push_back({0, 0});
    f_.line_files.push_back(std::string(atom_text(f_.module)) + ".erl");
    if (!c) return true;
    Reader r = open(c);
    if (r.u32() != 0) return r.ok();  // an unknown version is no error: the module merely has no lines
    const std::uint32_t flags = r.u32();
    f_.has_executable_lines = flags & 1;
    f_.forces_line_counters = flags & 2;
    r.u32();
    const std::uint32_t items = r.u32(), files = r.u32();
    std::uint32_t file = 0;
    for (std::uint32_t i = 0; i < items && r.ok();) {
      CompactValue v;
      if (!compact(r, &v)) return false;
      if (v.tag == kTagA) {
        if (v.value < 0 || static_cast<std::uint32_t>(v.value) > files)
          return r.fail("file number out of range");
        file = static_cast<std::uint32_t>(v.value);
      } else if (v.tag == kTagI) {
        f_.lines.push_back({file, static_cast<std::uint32_t>(v.value)});
        i++;
      } else {
        return r.fail("unexpected item");
      }
    }
    for (std::uint32_t i = 0; i < files && r.ok(); i++) {
      const std::size_t length = std::size_t{r.u8()} << 8 | r.u8();
      const auto* text = reinterpret_cast<const char*>(r.bytes(length));
      if (text) f_.line_files.emplace_back(text, length);
    }
    return r.ok();
  }

  static std::uint16_t read16(Reader& r) {
    const unsigned upper = r.u8();
    return static_cast<std::uint16_t>(upper << 8 | r.u8());
  }
  static std::int64_t read_bound(Reader& r) {
    const std::uint64_t upper = r.u32();
    return static_cast<std::int64_t>(upper << 32 | r.u32());
  }

  /// A type since OTP 26: so many bits of kinds, none for match states, which are bit strings. The
  /// bits behind them say what follows: a lower bound, an upper bound, a unit.
  static ValueType later_type(Reader& r, unsigned kind_bits) {
    const unsigned word = read16(r), all = (1u << kind_bits) - 1, kinds = word & all;
    const auto follows = [&](unsigned n) { return word >> (kind_bits + n) & 1; };
    const std::int64_t low = follows(0) ? read_bound(r) : 0, high = follows(1) ? read_bound(r) : 0;
    if (follows(2)) r.u8();
    constexpr unsigned kRecord = 1 << 12, kLowest = value_kind::kAtom | value_kind::kBitstring;
    if (kinds == all || kinds & kRecord) return {value_kind::kAny, 0, -1};
    const unsigned here = (kinds & kLowest) | (kinds & ~kLowest) << 1 |
                          (kinds & value_kind::kBitstring ? value_kind::kMatchState : 0);
    if (here != value_kind::kInteger || !follows(0) || !follows(1))
      return {static_cast<std::uint16_t>(here), 0, -1};
    return {value_kind::kInteger, low, high};
  }

  /// Version 1 is OTP 25's, 3 that of 26 and later, 4 that of 29. Others are not read: the machine
  /// does not need types.
  bool types() {
    const Chunk* c = chunk("Type");
    if (!c) return true;
    Reader r = open(c);
    const std::uint32_t version = r.u32();
    if (version != 1 && version != 3 && version != 4) return r.ok();
    const std::uint32_t n = r.count("types", version == 1 ? 18 : 2);
    for (std::uint32_t i = 0; i < n && r.ok(); i++) {
      ValueType t{};
      if (version == 1) {
        t.kinds = read16(r);
        t.low = read_bound(r);
        t.high = read_bound(r);
      } else {
        t = later_type(r, version == 3 ? 12 : 13);
      }
      if (!r.ok()) break;
      if (t.kinds == 0 || t.kinds > value_kind::kAny) return r.fail("type of no kind");
      if (i == 0 && t.kinds != value_kind::kAny) return r.fail("the first type is not any");
      if (i > 0) f_.types.push_back(t);
    }
    types_known_ = n <= Arg::kMostTypes;
    return r.ok();
  }

  /// The chunk of +beam_debug_info: its entries are written as calls, each with what it is and one
  /// operand. An entry for the frame begins an item.
  bool debug_info() {
    constexpr unsigned kCall = 4;
    enum Entry : Word { kFrame, kVariables, kCalls };
    const Chunk* c = chunk("DbgB");
    if (!c) return true;
    Reader r = open(c);
    if (r.u32() != 1) return r.ok();  // an unknown version is no error
    std::uint32_t items = r.count("items"), terms = r.count("terms");
    while ((items || terms) && r.ok()) {
      Word entry = 0;
      Arg a;
      if (r.u8() != kCall || !number(r, &entry) || !operand(r, &a)) return r.fail("bad entry");
      const bool is_frame = entry == kFrame;
      if (is_frame ? !items || a.kind == Arg::Kind::kList : a.kind != Arg::Kind::kList || a.count > terms)
        return r.fail("bad entry");
      if (is_frame) {
        f_.debug_items.push_back({a, {}, {}});
        --items;
        continue;
      }
      if (f_.debug_items.empty() || (entry == kVariables && a.count % 2)) return r.fail("bad entry");
      terms -= a.count;
      if (entry == kVariables) f_.debug_items.back().variables = a;
      if (entry == kCalls) f_.debug_items.back().calls = a;
    }
    return r.ok();
  }

  bool compact(Reader& r, CompactValue* out) {
    if (!compact_of_any_size(r, out)) return false;
    return !out->big || out->tag == kTagI || r.fail("number too large");
  }

  bool compact_of_any_size(Reader& r, CompactValue* out) {
    const unsigned b = r.u8();
    if (!r.ok()) return false;
    out->big = nullptr;
    if ((b & 7) == kTagZ) {
      out->tag = b;
      if (b & 8 || b > kTagTyped) return r.fail("unknown operand tag " + std::to_string(b));
      return true;
    }
    out->tag = b & 7;
    if (!(b & 8)) {
      out->value = b >> 4;
    } else if (!(b & 0x10)) {
      out->value = static_cast<SWord>(b >> 5) << 8 | r.u8();
    } else {
      Word bytes = (b >> 5) + 2;
      if (bytes == 9) {
        CompactValue length;
        if (++nesting_ > 2) return r.fail("number too long");
        const bool good = compact(r, &length);
        nesting_--;
        if (!good || length.tag != kTagU || length.value < 0) return r.fail("bad length of a number");
        bytes = static_cast<Word>(length.value) + 9;
      }
      const std::uint8_t* p = r.bytes(bytes);
      if (!p) return false;
      if (bytes > 8) {
        out->big = p;
        out->big_bytes = static_cast<unsigned>(bytes);
        if (out->tag == kTagI || (out->tag == kTagU && !(p[0] & 0x80))) return true;
        return r.fail("number too large");
      }
      Word v = p[0] & 0x80 ? ~Word{0} : 0;
      for (Word i = 0; i < bytes; i++) v = v << 8 | p[i];
      out->value = static_cast<SWord>(v);
    }
    if (out->value < 0 && out->tag != kTagI) return r.fail("negative number where none may be");
    return r.ok();
  }

  /// An integer beyond smalls becomes a literal: its external form.
  Arg big_integer(const CompactValue& v) {
    std::vector<std::uint8_t> bytes;  // two's complement, little-endian
    if (v.big)
      for (unsigned i = v.big_bytes; i-- > 0;) bytes.push_back(v.big[i]);
    else
      for (unsigned i = 0; i < 8; i++) bytes.push_back(static_cast<std::uint8_t>(v.value >> (8 * i)));
    const bool negative = bytes.back() & 0x80;
    if (negative) {
      unsigned carry = 1;
      for (auto& b : bytes) {
        carry += static_cast<std::uint8_t>(~b);
        b = static_cast<std::uint8_t>(carry);
        carry >>= 8;
      }
    }
    while (bytes.size() > 1 && !bytes.back()) bytes.pop_back();
    std::string e;
    e += static_cast<char>(131);
    if (bytes.size() < 256) {
      e += static_cast<char>(110);
    } else {
      e += static_cast<char>(111);
      for (int s = 24; s > 0; s -= 8) e += static_cast<char>(bytes.size() >> s);
    }
    e += static_cast<char>(bytes.size());
    e += static_cast<char>(negative);
    e.append(bytes.begin(), bytes.end());
    integers_.push_back(std::move(e));
    return {Arg::Kind::kLiteral, file_literals_ + integers_.size() - 1};
  }

  bool operand(Reader& r, Arg* out, unsigned depth = 0) {
    CompactValue v;
    if (!compact_of_any_size(r, &v)) return false;
    const auto value = static_cast<Word>(v.value);
    switch (v.tag) {
      case kTagU:
      case kTagH: *out = {v.big ? Arg::Kind::kBeyond : Arg::Kind::kUnsigned, value}; return true;
      case kTagI:
        *out = !v.big && Term::fits_small(v.value) ? Arg{Arg::Kind::kConst, Term::small(v.value).raw()}
                                                   : big_integer(v);
        return true;
      case kTagA:
        *out = {Arg::Kind::kConst, value == 0 ? Term::nil().raw() : atom(r, value).raw()};
        return r.ok();
      case kTagX:
        if (value >= kMaxXRegisters) return r.fail("x register " + std::to_string(value) + " does not exist");
        *out = {Arg::Kind::kX, value};
        return true;
      case kTagY:
        if (value >= kMaxYRegisters) return r.fail("y register " + std::to_string(value) + " does not exist");
        *out = {Arg::Kind::kY, value};
        return true;
      case kTagF:
        if (value >= f_.label_count) return r.fail("label " + std::to_string(value) + " does not exist");
        *out = {Arg::Kind::kLabel, value};
        return true;
      case kTagFloat:
        if (!number(r, &out->value)) return false;
        if (out->value >= kMaxFloatRegisters)
          return r.fail("float register " + std::to_string(out->value) + " does not exist");
        out->kind = Arg::Kind::kFloatReg;
        return true;
      case kTagLiteral:
        if (!number(r, &out->value)) return false;
        if (out->value >= file_literals_)
          return r.fail("literal " + std::to_string(out->value) + " does not exist");
        out->kind = Arg::Kind::kLiteral;
        return true;
      case kTagTyped: {  // a register and its type
        Word type = 0;
        if (depth > 8 || !operand(r, out, depth + 1) || !(out->is_x() || out->is_y()) || !number(r, &type))
          return r.fail("bad typed register");
        if (types_known_ && type >= f_.types.size())
          return r.fail("type " + std::to_string(type) + " does not exist");
        out->type = types_known_ ? static_cast<std::uint32_t>(type) : 0;
        return true;
      }
      case kTagList: return list(r, out, depth);
      case kTagAlloc: return allocation_list(r, out);
    }
    return r.fail("unknown operand tag");
  }

  bool number(Reader& r, Word* out) {
    CompactValue v;
    if (!compact(r, &v)) return false;
    if (v.tag != kTagU) return r.fail("a number was expected");
    *out = static_cast<Word>(v.value);
    return true;
  }

  bool list(Reader& r, Arg* out, unsigned depth) {
    Word n = 0;
    if (depth > 8) return r.fail("lists nested too deeply");
    if (!number(r, &n)) return false;
    if (n > r.left()) return r.fail("list longer than the code");
    std::vector<Arg> members(n);
    for (Arg& a : members) {
      if (!operand(r, &a, depth + 1)) return false;
      if (a.kind == Arg::Kind::kBeyond && depth > 0) return r.fail("number too large");
      list_goes_beyond_ |= a.kind == Arg::Kind::kBeyond;
    }
    *out = {Arg::Kind::kList, f_.extra.size(), static_cast<std::uint32_t>(n)};
    f_.extra.insert(f_.extra.end(), members.begin(), members.end());
    return true;
  }

  bool allocation_list(Reader& r, Arg* out) {
    Word n = 0, words = 0, floats = 0, funs = 0;
    if (!number(r, &n) || n > 16) return r.fail("bad allocation list");
    while (n-- > 0) {
      Word kind = 0, count = 0;
      if (!number(r, &kind) || !number(r, &count)) return false;
      if (kind > 2 || count > kMaxHeapNeed) return r.fail("bad allocation list");
      (kind == 0 ? words : kind == 1 ? floats : funs) += count;
    }
    *out = {Arg::Kind::kAlloc, words | floats << 32, static_cast<std::uint32_t>(funs)};
    return true;
  }

  bool accepts(char letter, const Arg& a) const {
    using K = Arg::Kind;
    const bool source = a.kind == K::kX || a.kind == K::kY || a.kind == K::kConst || a.kind == K::kLiteral;
    switch (letter) {
      case 'L': return a.kind == K::kUnsigned && a.value > 0 && a.value < f_.label_count;
      case 'F': return a.kind == K::kLabel && a.value > 0;
      case 'f': return a.kind == K::kLabel;
      case 's': return source;
      case 'd': return a.is_x() || a.is_y();
      case 'x': return a.is_x();
      case 'y': return a.is_y();
      case 'l': return a.kind == K::kFloatReg;
      case 'g': return source || a.kind == K::kFloatReg;
      case 'G': return a.kind == K::kFloatReg || a.is_x() || a.is_y();
      case 'u': return a.kind == K::kUnsigned;
      case 'n': return a.kind == K::kUnsigned || a.kind == K::kBeyond;
      case 'v': return a.kind == K::kUnsigned && a.value <= kMaxXRegisters;
      case 'h': return a.kind == K::kAlloc || (a.kind == K::kUnsigned && a.value <= kMaxHeapNeed);
      case 'a': return a.is_const() && a.term().is_atom();
      case 'i': return a.is_const() && a.term().is_small();
      case '*': return a.kind == K::kList;
      default: return true;
    }
  }

  bool code() {
    const Chunk* c = chunk("Code");
    if (!c) return fail("chunk Code is missing");
    Reader r = open(c);
    const std::uint32_t header = r.u32(), version = r.u32(), highest = r.u32();
    f_.label_count = r.u32();
    f_.function_count = r.u32();
    if (!r.ok()) return false;
    if (header < 16 || header - 16 > r.left()) return r.fail("bad header size");
    r.bytes(header - 16);
    if (version != 0) return r.fail("instruction set version " + std::to_string(version) + " is unknown");
    if (highest >= generic::kOpcodeCount)
      return r.fail("uses instruction " + std::to_string(highest) + "; this machine knows 1…" +
                    std::to_string(generic::kOpcodeCount - 1));
    if (f_.label_count == 0 || f_.label_count > c->size + 1) return r.fail("bad number of labels");
    f_.code.reserve(c->size / 3);
    f_.operands.reserve(c->size / 2);
    while (!r.at_end()) {
      const auto at = static_cast<std::uint32_t>(r.offset());
      const unsigned opcode = r.u8();
      if (opcode == 0 || opcode >= generic::kOpcodeCount)
        return r.fail("unknown instruction " + std::to_string(opcode));
      const generic::OpcodeRow& row = generic::kOpcodes[opcode];
      if (row.old)
        return r.fail(std::string("instruction ") + row.name +
                      " is of compilers older than OTP 22: compile the module again");
      const auto arity = static_cast<std::uint8_t>(row.signature.size());
      const auto first = static_cast<std::uint32_t>(f_.operands.size());
      for (unsigned i = 0; i < arity; i++) {
        Arg& a = f_.operands.emplace_back();
        if (!operand(r, &a)) {
          error_->message += std::string(" (operand ") + std::to_string(i + 1) + " of " + row.name + ")";
          return false;
        }
        if (std::exchange(list_goes_beyond_, false) && opcode != generic::k_bs_match)
          return r.fail("number too large");
        if (!accepts(row.signature[i], a))
          return r.fail(std::string("operand ") + std::to_string(i + 1) + " of " + row.name +
                        " is of the wrong kind");
      }
      f_.code.push_back({static_cast<std::uint8_t>(opcode), arity, first, at});
      if (opcode == generic::k_int_code_end) return finish_literals();
    }
    return r.fail("the code has no end");
  }

  bool finish_literals() {
    for (auto& s : integers_) f_.storage.push_back(std::move(s));
    // The strings do not move any more from here on.
    const std::size_t base = f_.storage.size() - integers_.size();
    f_.literals.resize(file_literals_);
    for (std::size_t i = base; i < f_.storage.size(); i++)
      f_.literals.push_back(
          {reinterpret_cast<const std::uint8_t*>(f_.storage[i].data()), f_.storage[i].size()});
    return true;
  }

  bool functions(const char* name, std::vector<BeamFile::Function>* out) {
    const Chunk* c = chunk(name);
    if (!c) return name[0] == 'L' ? true : fail(std::string("chunk ") + name + " is missing");
    Reader r = open(c);
    const std::uint32_t n = r.count("functions", 12);
    for (std::uint32_t i = 0; i < n && r.ok(); i++) {
      BeamFile::Function fn;
      fn.name = atom(r, r.u32());
      fn.arity = r.u32();
      fn.label = r.u32();
      if (r.ok() && (fn.arity > 255 || fn.label == 0 || fn.label >= f_.label_count))
        return r.fail("bad arity or label");
      out->push_back(fn);
    }
    return r.ok();
  }

  bool lambdas() {
    const Chunk* c = chunk("FunT");
    if (!c) return true;
    Reader r = open(c);
    const std::uint32_t n = r.count("funs", 24);
    for (std::uint32_t i = 0; i < n && r.ok(); i++) {
      BeamFile::Lambda l;
      l.name = atom(r, r.u32());
      l.arity = r.u32();
      l.label = r.u32();
      l.index = r.u32();
      l.free_count = r.u32();
      l.old_uniq = r.u32();
      if (r.ok() && (l.arity > 255 || l.free_count > l.arity || l.label == 0 || l.label >= f_.label_count))
        return r.fail("bad fun");
      f_.lambdas.push_back(l);
    }
    return r.ok();
  }

  /// The definitions of native records, each written as an instruction: call_last Name IsExported
  /// [Field, Default…]. The number 0 stands for no default.
  bool records() {
    const Chunk* c = chunk("Recs");
    if (!c) return true;
    Reader r = open(c);
    if (r.u32() != 0) return r.fail("unknown version");
    const std::uint32_t n = r.u32();
    r.u32();  // the number of fields of all
    for (std::uint32_t i = 0; i < n && r.ok(); i++) {
      Arg name, exported, fields;
      constexpr std::uint8_t kCallLast = 5;
      if (r.u8() != kCallLast || !operand(r, &name) || !operand(r, &exported) || !operand(r, &fields))
        return r.fail("bad definition of a record");
      if (!record(name, exported, fields)) return r.fail("bad definition of a record");
    }
    return r.ok();
  }
  bool record(const Arg& name, const Arg& exported, const Arg& fields) {
    const auto is_atom = [](const Arg& a) { return a.is_const() && a.term().is_atom(); };
    if (!is_atom(name) || !is_atom(exported) || fields.kind != Arg::Kind::kList || fields.count % 2)
      return false;
    if (exported.term() != atoms::true_ && exported.term() != atoms::false_) return false;
    BeamFile::Record record{name.term(), exported.term(), {}};
    const Arg* m = f_.extra.data() + fields.value;
    for (Word i = 0; i < fields.count; i += 2) {
      const Arg& value = m[i + 1];
      const bool has_none = value.kind == Arg::Kind::kUnsigned && value.value == 0;
      if (!is_atom(m[i]) || !(has_none || value.is_const() || value.kind == Arg::Kind::kLiteral))
        return false;
      record.fields.push_back({m[i].term(), value});
    }
    f_.records.push_back(std::move(record));
    return true;
  }

  bool rest() {
    if (const Chunk* c = chunk("Attr")) f_.attributes = {c->data, c->size};
    if (const Chunk* c = chunk("CInf")) f_.compile_info = {c->data, c->size};
    if (const Chunk* c = chunk("Meta")) f_.meta = {c->data, c->size};
    return true;
  }

  /// Computes the digest over the chunks that beam_lib:md5/1 reads, in its order, so that
  /// module_info(md5) agrees with it.
  bool digest() {
    MD5_CTX context;
    MD5Init(&context);
    const char* names[] = {
        chunk("AtU8") ? "AtU8" : "Atom", "Code", "StrT", "ImpT", "ExpT", "FunT", "LitT", "Meta", "Recs"};
    for (const char* name : names) {
      const Chunk* c = chunk(name);
      if (!c) continue;
      std::vector<std::uint8_t> data(c->data, c->data + c->size);
      if (!std::strcmp(name, "FunT"))  // the last word of each entry was made from the digest
        for (std::size_t at = 4 + 20; at + 4 <= data.size(); at += 24) std::memset(data.data() + at, 0, 4);
      MD5Update(&context, data.data(), data.size());
    }
    MD5Final(f_.md5, &context);
    return true;
  }

  const std::uint8_t* bytes_;
  std::size_t size_;
  BeamFile& f_;
  BeamError* error_;
  std::vector<Chunk> chunks_;
  std::vector<std::string> integers_;
  std::size_t file_literals_ = 0;
  bool list_goes_beyond_ = false;  // whether the last list has a number that does not fit a word
  bool types_known_ = false;       // whether the chunk is there, in a version we read
  unsigned nesting_ = 0;
};

}  // namespace

std::string BeamError::text(std::string_view file) const {
  return std::string(file) + ": " + message + " (at byte " + std::to_string(offset) + ")";
}

bool ValueType::is_small() const {
  return kinds == value_kind::kInteger && low <= high && Term::fits_small(low) && Term::fits_small(high);
}

std::span<const std::uint8_t> find_chunk(const std::uint8_t* bytes, std::size_t size, const ChunkName& name) {
  std::span<const std::uint8_t> found;
  BeamError error;
  for_each_chunk(bytes, size, &error, [&](const Chunk& c) {
    if (std::memcmp(c.name, name.data(), name.size()) != 0) return true;
    found = {c.data, c.size};
    return false;
  });
  return found;
}

bool parse_beam(const std::uint8_t* bytes, std::size_t size, BeamFile* out, BeamError* error) {
  *out = BeamFile{};
  return Parser(bytes, size, out, error).parse();
}

bool inflate_beam(const std::uint8_t* bytes, std::size_t size, std::vector<std::uint8_t>* out) {
  constexpr std::size_t kLimit = 256u << 20;
  if (size < 2 || bytes[0] != 0x1F || bytes[1] != 0x8B) return false;
  z_stream z{};
  if (inflateInit2(&z, 31) != Z_OK) return false;
  z.next_in = const_cast<Bytef*>(bytes);
  z.avail_in = static_cast<uInt>(size);
  int state = Z_OK;
  out->clear();
  while (state == Z_OK && out->size() < kLimit) {
    const std::size_t had = out->size();
    out->resize(had + (64 << 10));
    z.next_out = out->data() + had;
    z.avail_out = 64 << 10;
    state = inflate(&z, Z_NO_FLUSH);
    out->resize(had + (64 << 10) - z.avail_out);
    if (z.avail_in == 0 && z.avail_out != 0 && state == Z_OK) break;
  }
  inflateEnd(&z);
  return state == Z_STREAM_END;
}

}  // namespace vmrun

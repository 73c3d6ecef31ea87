#include <zlib.h>

#include <bit>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "vm/term/atom.hpp"
#include "vm/term/big.hpp"
#include "vm/term/bits.hpp"
#include "vm/term/external.hpp"
#include "vm/term/external_tags.hpp"
#include "vm/term/fun.hpp"
#include "vm/term/map.hpp"
#include "vm/term/node.hpp"
#include "vm/term/number_text.hpp"
#include "vm/term/resource_hooks.hpp"

namespace vmrun {
namespace {

/// Bytes that grow; room is made before each piece so that the pieces themselves are plain stores.
class Output {
 public:
  [[gnu::always_inline]] std::uint8_t* room(std::size_t n) {
    if (text_.size() - used_ < n) [[unlikely]]
      grow(n);
    return reinterpret_cast<std::uint8_t*>(text_.data()) + used_;
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
  void bytes(const void* from, std::size_t n) {
    if (n) std::memcpy(room(n), from, n);
    used_ += n;
  }
  std::size_t size() const { return used_; }
  void patch_be32(std::size_t at, Word v) {
    for (unsigned i = 0; i < 4; ++i) text_[at + i] = static_cast<char>(v >> (8 * (3 - i)));
  }
  std::string take() {
    text_.resize(used_);
    return std::move(text_);
  }

 private:
  [[gnu::noinline]] void grow(std::size_t n) { text_.resize(std::max(text_.size() * 2, used_ + n + 64)); }

  std::string text_;
  std::size_t used_ = 0;
};

/// Writes a term piece by piece. What is still to be written is a stack: `terms_` holds the terms,
/// one after another so that they can be roots, `marks_` says what each stands for.
class TermWriter {
 public:
  TermWriter(Term t, const EncodeOptions& options, SWord steps) : options_(options), left_(steps) {
    push(t, kTerm);
  }

  /// False: it would take more steps.
  bool run() {
    while (!marks_.empty()) {
      if (--left_ < 0) return false;
      const Term t = terms_.back();
      const Word mark = marks_.back();
      if (mark == kListRest && t.is_list()) {  // elements until the tail, which is a term of its own
        terms_.back() = t.tail();
        write(t.head());
        continue;
      }
      terms_.pop_back();
      marks_.pop_back();
      if (mark >= kFunEnd) out_.patch_be32(mark - kFunEnd, out_.size() - (mark - kFunEnd));
      else write(t);
    }
    return left_ >= 0;
  }
  std::string take() { return out_.take(); }

 private:
  static constexpr Word kTerm = 0, kListRest = 1, kFunEnd = 2;  // kFunEnd + where the fun's size goes

  /// What takes many steps at once asks first, and is left out when it may not have them.
  bool spend(Word steps) { return (left_ -= static_cast<SWord>(steps)) >= 0; }
  void push(Term t, Word mark) {
    terms_.push_back(t);
    marks_.push_back(mark);
  }
  /// The first of them is written first.
  void push_all(const Term* terms, Word count) {
    for (Word i = count; i-- > 0;) push(terms[i], kTerm);
  }

  void write(Term t);
  void write_small(SWord v);
  void write_big(Term t);
  void write_atom(Term atom);
  void write_float(double d);
  void write_bitstring(Term t);
  void write_list(Term t);
  void write_map(Term t);
  void write_fun(Term t);
  void write_identifier_node(const Term* o);
  void write_pid(Term t);
  void write_port(Term t);
  void write_reference(Term t);

  EncodeOptions options_;
  Output out_;
  SWord left_;
  std::vector<Term> terms_;
  std::vector<Word> marks_;
};

void TermWriter::write(Term t) {
  if (t.is_small()) return write_small(t.small_value());
  if (t.is_atom()) return write_atom(t);
  if (t.is_nil()) return out_.u8(etf::kNil);
  if (t.is_list()) return write_list(t);
  if (t.is_local_pid()) return write_pid(t);
  if (t.is_local_port()) return write_port(t);
  const Term* o = t.boxed_ptr();
  switch (o->header_sub()) {
    case Term::Sub::kTuple: {
      const Word n = o->header_arity();
      out_.u8(n <= 255 ? etf::kSmallTuple : etf::kLargeTuple);
      out_.be(n, n <= 255 ? 1 : 4);
      if (spend(n)) push_all(o + 1, n);
      return;
    }
    case Term::Sub::kPosBig:
    case Term::Sub::kNegBig: return write_big(t);
    case Term::Sub::kFloat: return write_float(float_of(t)->value);
    case Term::Sub::kRefcBinary:
    case Term::Sub::kHeapBinary:
    case Term::Sub::kSubBinary: return write_bitstring(t);
    case Term::Sub::kMap: return write_map(t);
    case Term::Sub::kFun: return write_fun(t);
    case Term::Sub::kRef:
    case Term::Sub::kMagicRef:
    case Term::Sub::kExternalRef: return write_reference(t);
    case Term::Sub::kExternalPid: return write_pid(t);
    case Term::Sub::kExternalPort: return write_port(t);
    default: break;
  }
  assert(!"no term");
}

void TermWriter::write_small(SWord v) {
  if (v >= 0 && v <= 255) {
    std::uint8_t* p = out_.room(2);
    p[0] = etf::kSmallInteger;
    p[1] = static_cast<std::uint8_t>(v);
    return out_.advance(2);
  }
  if (v >= INT32_MIN && v <= INT32_MAX) {
    out_.u8(etf::kInteger);
    return out_.be(static_cast<std::uint32_t>(v), 4);
  }
  write_big(Term::small(v));
}

void TermWriter::write_big(Term t) {
  IntView v(t);
  const Word n = (v.bit_length() + 7) / 8;
  if (!spend(n / 64)) return;
  out_.u8(n <= 255 ? etf::kSmallBig : etf::kLargeBig);
  out_.be(n, n <= 255 ? 1 : 4);
  out_.u8(v.negative());
  out_.bytes(v.limbs(), n);
}

void TermWriter::write_atom(Term atom) {
  const std::string_view text = atom_text(atom);
  if (options_.minor_version < 2) {
    // Latin-1 wherever the text allows it.
    std::size_t plain = 0, wide = 0;
    for (const char c : text) {
      const auto b = static_cast<std::uint8_t>(c);
      plain += (b & 0xC0) != 0x80;
      wide += b > 0xC3;
    }
    if (wide == 0) {
      out_.u8(etf::kAtom);
      out_.be(plain, 2);
      for (std::size_t i = 0; i < text.size(); ++i) {
        const auto b = static_cast<std::uint8_t>(text[i]);
        out_.u8(b < 0x80 ? b : (b & 3u) << 6 | (static_cast<std::uint8_t>(text[++i]) & 0x3Fu));
      }
      return;
    }
  }
  out_.u8(text.size() <= 255 ? etf::kSmallAtomUtf8 : etf::kAtomUtf8);
  out_.be(text.size(), text.size() <= 255 ? 1 : 2);
  out_.bytes(text.data(), text.size());
}

void TermWriter::write_float(double d) {
  if (options_.minor_version == 0) {
    std::string text = float_text_scientific(d, 20);
    text.resize(31);
    out_.u8(etf::kFloat);
    return out_.bytes(text.data(), text.size());
  }
  out_.u8(etf::kNewFloat);
  out_.be(std::bit_cast<Word>(d), 8);
}

void TermWriter::write_bitstring(Term t) {
  const BitView v = bits_of(t);
  const Word n = (v.size_bits + 7) / 8;
  if (!spend(n / 64)) return;
  out_.u8(v.is_binary() ? etf::kBinary : etf::kBitBinary);
  out_.be(n, 4);
  if (!v.is_binary()) out_.u8(v.size_bits & 7);
  std::uint8_t* p = out_.room(n);
  if (!v.is_binary()) p[n - 1] = 0;
  copy_bits(p, 0, v.base, v.offset_bits, v.size_bits);
  out_.advance(n);
}

void TermWriter::write_list(Term t) {
  constexpr Word kMaxString = 0xFFFF;
  constexpr Word kCellsAtOnce = 0x10000;
  Word n = 0;
  Term end = t;
  const auto is_byte = [](Term h) { return (h.raw() & ~Word{0xFF0}) == Term::small(0).raw(); };
  while (end.is_list() && is_byte(end.head()) && n <= kMaxString) {
    end = end.tail();
    ++n;
  }
  const bool is_string = end.is_nil() && n <= kMaxString;
  for (Word counted = n; end.is_list(); end = end.tail())
    if (++n - counted == kCellsAtOnce) {
      if (!spend(kCellsAtOnce / 16)) return;
      counted = n;
    }
  if (is_string) {
    std::uint8_t* p = out_.room(n + 3);
    p[0] = etf::kString;
    p[1] = static_cast<std::uint8_t>(n >> 8);
    p[2] = static_cast<std::uint8_t>(n);
    p += 3;
    for (Term l = t; l.is_list(); l = l.tail()) *p++ = static_cast<std::uint8_t>(l.head().small_value());
    spend(n / 8);
    return out_.advance(n + 3);
  }
  out_.u8(etf::kList);
  out_.be(n, 4);
  push(t, kListRest);
}

void TermWriter::write_map(Term t) {
  const Word n = map_size(t);
  if (!spend(n)) return;
  out_.u8(etf::kMap);
  out_.be(n, 4);
  std::vector<Term> pairs(2 * n);
  Term* p = pairs.data();
  MapIterator it(t);
  while (it.next(&p[0], &p[1])) p += 2;
  if (options_.deterministic && n > kFlatMapMax) sort_pairs(pairs.data(), n);
  push_all(pairs.data(), 2 * n);
}

void TermWriter::write_fun(Term t) {
  const FunObject* f = fun_of(t);
  if (f->is_external) {
    out_.u8(etf::kExport);
    write_atom(f->exported->module);
    write_atom(f->exported->function);
    return write_small(f->exported->arity);
  }
  const FunEntry& e = *f->entry;
  out_.u8(etf::kNewFun);
  const Word size_at = out_.size();
  out_.be(0, 4);
  out_.u8(f->arity);
  out_.bytes(e.uniq, sizeof e.uniq);
  out_.be(e.index, 4);
  out_.be(f->free_count, 4);
  write_atom(e.module);
  write_small(e.index);
  write_small(e.old_uniq);
  write_pid(f->creator.is_local_pid() ? f->creator : Term::pid(0));
  push(Term::nil(), kFunEnd + size_at);
  push_all(f->environment(), f->free_count);
}

void TermWriter::write_identifier_node(const Term* o) {
  write_atom(o ? reinterpret_cast<const ExternalObject*>(o)->node->name : local_node_name());
}

std::uint32_t creation_of(const Term* o) {
  return o ? reinterpret_cast<const ExternalObject*>(o)->node->creation : local_node_creation();
}

void TermWriter::write_pid(Term t) {
  const Term* o = t.is_boxed() ? t.boxed_ptr() : nullptr;
  const Word number = o ? reinterpret_cast<const ExternalObject*>(o)->data[0] : t.id_number();
  out_.u8(etf::kNewPid);
  write_identifier_node(o);
  out_.be(o ? number & 0xFFFFFFFF : number & 0xFFFFFFF, 4);
  out_.be(o ? number >> 32 : number >> 28, 4);
  out_.be(creation_of(o), 4);
}

void TermWriter::write_port(Term t) {
  const Term* o = t.is_boxed() ? t.boxed_ptr() : nullptr;
  const Word number = o ? reinterpret_cast<const ExternalObject*>(o)->data[0] : t.id_number();
  const bool wide = number >> 28;
  out_.u8(wide ? etf::kV4Port : etf::kNewPort);
  write_identifier_node(o);
  out_.be(number, wide ? 8 : 4);
  out_.be(creation_of(o), 4);
}

void TermWriter::write_reference(Term t) {
  const Term* o = t.is_local_ref() ? nullptr : t.boxed_ptr();
  const std::uint32_t* numbers =
      o ? reinterpret_cast<const std::uint32_t*>(reinterpret_cast<const ExternalObject*>(o)->data)
        : local_ref_numbers(t);
  const Word count = o && o->header_arity() == 5 ? 5 : 3;
  if (t.is_boxed_sub(Term::Sub::kMagicRef)) resource_hooks.expose(magic_ref_of(t)->resource);
  out_.u8(etf::kNewerReference);
  out_.be(count, 2);
  write_identifier_node(o);
  out_.be(creation_of(o), 4);
  for (Word i = 0; i < count; ++i) out_.be(numbers[i], 4);
}

std::string with_prefix(std::initializer_list<std::uint8_t> prefix, const std::string& body) {
  std::string out;
  out.reserve(prefix.size() + body.size());
  for (const auto b : prefix) out += static_cast<char>(b);
  return out += body;
}

/// Compressed if asked for and worth it, and the version byte.
std::string packed_form(std::string body, const EncodeOptions& options) {
  const auto n = body.size();
  if (options.compression > 0 && n > 5 && n <= UINT32_MAX) {
    // Tag and length take five bytes: compressed data is used only when it is smaller all the same.
    std::string packed(n, 0);
    uLongf packed_size = static_cast<uLongf>(n - 5);
    if (compress2(reinterpret_cast<Bytef*>(packed.data()), &packed_size,
                  reinterpret_cast<const Bytef*>(body.data()), static_cast<uLong>(n),
                  options.compression) == Z_OK) {
      packed.resize(packed_size);
      const auto byte = [n](int shift) { return static_cast<std::uint8_t>(n >> shift); };
      return options.version_byte
                 ? with_prefix({etf::kVersion, etf::kCompressed, byte(24), byte(16), byte(8), byte(0)},
                               packed)
                 : with_prefix({etf::kCompressed, byte(24), byte(16), byte(8), byte(0)}, packed);
    }
  }
  return options.version_byte ? with_prefix({etf::kVersion}, body) : body;
}

}  // namespace

bool encode_external_within(SWord steps, Term t, const EncodeOptions& options, std::string* bytes) {
  TermWriter writer(t, options, steps);
  if (!writer.run()) return false;
  std::string body = writer.take();
  // Compressing a byte takes about three steps.
  if (options.compression > 0 && static_cast<SWord>(body.size()) > steps / 4) return false;
  *bytes = packed_form(std::move(body), options);
  return true;
}

std::string encode_external(Term t, EncodeOptions options) {
  std::string bytes;
  (void)encode_external_within(INT64_MAX, t, options, &bytes);
  return bytes;
}

}  // namespace vmrun

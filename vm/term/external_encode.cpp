#include <zlib.h>

#include <bit>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "vm/code/module.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/big.hpp"
#include "vm/term/bits.hpp"
#include "vm/term/external.hpp"
#include "vm/term/external_tags.hpp"
#include "vm/term/map.hpp"
#include "vm/term/node.hpp"
#include "vm/term/number_text.hpp"

namespace vmrun {
namespace {

/// Bytes that grow; room is made before each piece so that the pieces themselves are plain stores.
class Output {
 public:
  std::uint8_t* room(std::size_t n) {
    if (text_.size() - used_ < n) text_.resize(std::max(text_.size() * 2, used_ + n + 64));
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
  std::string text_;
  std::size_t used_ = 0;
};

class Encoder {
 public:
  explicit Encoder(const EncodeOptions& options) : options_(options) {}

  std::string run(Term t) {
    write(t);
    while (!frames_.empty()) {
      Frame& f = frames_.back();
      switch (f.kind) {
        case Frame::kSlots: {
          if (f.remaining == 0) {
            frames_.pop_back();
            break;
          }
          --f.remaining;
          const Term next = *f.slots;
          f.slots += f.stride;
          write(next);
          break;
        }
        case Frame::kList: {
          // Elements until the tail, which follows as a term of its own.
          const Term list = f.list;
          if (!list.is_list()) {
            frames_.pop_back();
            write(list);
            break;
          }
          f.list = list.tail();
          write(list.head());
          break;
        }
        case Frame::kFunEnd:
          out_.patch_be32(f.patch_at, out_.size() - f.patch_at);
          frames_.pop_back();
          break;
        case Frame::kPairs:
          if (f.remaining == 0) {
            frames_.pop_back();
            break;
          }
          --f.remaining;
          write(*f.slots++);
          break;
      }
    }
    return out_.take();
  }

 private:
  struct Frame {
    enum Kind { kSlots, kList, kFunEnd, kPairs } kind = kSlots;
    const Term* slots = nullptr;
    Word remaining = 0;
    Word stride = 1;
    Term list;
    std::size_t patch_at = 0;
    std::unique_ptr<Term[]> pairs = nullptr;
  };

  void push_slots(const Term* slots, Word count, Word stride) {
    Frame f;
    f.slots = slots;
    f.remaining = count;
    f.stride = stride;
    frames_.push_back(std::move(f));
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
  std::vector<Frame> frames_;
};

void Encoder::write(Term t) {
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
      return push_slots(o + 1, n, 1);
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
    case Term::Sub::kExternalRef: return write_reference(t);
    case Term::Sub::kExternalPid: return write_pid(t);
    case Term::Sub::kExternalPort: return write_port(t);
    default: break;
  }
  assert(!"no term");
}

void Encoder::write_small(SWord v) {
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

void Encoder::write_big(Term t) {
  IntView v(t);
  const Word n = (v.bit_length() + 7) / 8;
  out_.u8(n <= 255 ? etf::kSmallBig : etf::kLargeBig);
  out_.be(n, n <= 255 ? 1 : 4);
  out_.u8(v.negative());
  out_.bytes(v.limbs(), n);
}

void Encoder::write_atom(Term atom) {
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

void Encoder::write_float(double d) {
  if (options_.minor_version == 0) {
    std::string text = float_text_scientific(d, 20);
    text.resize(31);
    out_.u8(etf::kFloat);
    return out_.bytes(text.data(), text.size());
  }
  out_.u8(etf::kNewFloat);
  out_.be(std::bit_cast<Word>(d), 8);
}

void Encoder::write_bitstring(Term t) {
  const BitView v = bits_of(t);
  const Word n = (v.size_bits + 7) / 8;
  out_.u8(v.is_binary() ? etf::kBinary : etf::kBitBinary);
  out_.be(n, 4);
  if (!v.is_binary()) out_.u8(v.size_bits & 7);
  std::uint8_t* p = out_.room(n);
  if (!v.is_binary()) p[n - 1] = 0;
  copy_bits(p, 0, v.base, v.offset_bits, v.size_bits);
  out_.advance(n);
}

void Encoder::write_list(Term t) {
  constexpr Word kMaxString = 0xFFFF;
  Word n = 0;
  bool is_string = true;
  Term end = t;
  for (; end.is_list(); end = end.tail(), ++n) {
    const Term h = end.head();
    is_string = is_string && h.is_small() && h.small_value() >= 0 && h.small_value() <= 255;
  }
  if (is_string && end.is_nil() && n <= kMaxString) {
    std::uint8_t* p = out_.room(n + 3);
    p[0] = etf::kString;
    p[1] = static_cast<std::uint8_t>(n >> 8);
    p[2] = static_cast<std::uint8_t>(n);
    p += 3;
    for (Term l = t; l.is_list(); l = l.tail()) *p++ = static_cast<std::uint8_t>(l.head().small_value());
    return out_.advance(n + 3);
  }
  out_.u8(etf::kList);
  out_.be(n, 4);
  Frame f;
  f.kind = Frame::kList;
  f.list = t;
  frames_.push_back(std::move(f));
}

void Encoder::write_map(Term t) {
  const Word n = map_size(t);
  out_.u8(etf::kMap);
  out_.be(n, 4);
  Frame f;
  f.kind = Frame::kPairs;
  f.remaining = 2 * n;
  f.pairs = std::make_unique<Term[]>(2 * n + 1);
  Term* p = f.pairs.get();
  MapIterator it(t);
  while (it.next(&p[0], &p[1])) p += 2;
  if (options_.deterministic && n > kFlatMapMax) sort_pairs(f.pairs.get(), n);
  f.slots = f.pairs.get();
  frames_.push_back(std::move(f));
}

void Encoder::write_fun(Term t) {
  const FunObject* f = fun_of(t);
  if (f->is_external) {
    out_.u8(etf::kExport);
    write_atom(f->exported->module);
    write_atom(f->exported->function);
    return write_small(f->exported->arity);
  }
  const FunEntry& e = *f->entry;
  out_.u8(etf::kNewFun);
  Frame end;
  end.kind = Frame::kFunEnd;
  end.patch_at = out_.size();
  out_.be(0, 4);
  out_.u8(f->arity);
  out_.bytes(e.uniq, sizeof e.uniq);
  out_.be(e.index, 4);
  out_.be(f->free_count, 4);
  write_atom(e.module);
  write_small(e.index);
  write_small(e.old_uniq);
  write_pid(f->creator.is_local_pid() ? f->creator : Term::pid(0));
  frames_.push_back(std::move(end));
  push_slots(f->environment(), f->free_count, 1);
}

void Encoder::write_identifier_node(const Term* o) {
  write_atom(o ? reinterpret_cast<const ExternalObject*>(o)->node->name : local_node_name());
}

std::uint32_t creation_of(const Term* o) {
  return o ? reinterpret_cast<const ExternalObject*>(o)->node->creation : local_node_creation();
}

void Encoder::write_pid(Term t) {
  const Term* o = t.is_boxed() ? t.boxed_ptr() : nullptr;
  const Word number = o ? reinterpret_cast<const ExternalObject*>(o)->data[0] : t.id_number();
  out_.u8(etf::kNewPid);
  write_identifier_node(o);
  out_.be(o ? number & 0xFFFFFFFF : number & 0xFFFFFFF, 4);
  out_.be(o ? number >> 32 : number >> 28, 4);
  out_.be(creation_of(o), 4);
}

void Encoder::write_port(Term t) {
  const Term* o = t.is_boxed() ? t.boxed_ptr() : nullptr;
  const Word number = o ? reinterpret_cast<const ExternalObject*>(o)->data[0] : t.id_number();
  const bool wide = number >> 28;
  out_.u8(wide ? etf::kV4Port : etf::kNewPort);
  write_identifier_node(o);
  out_.be(number, wide ? 8 : 4);
  out_.be(creation_of(o), 4);
}

void Encoder::write_reference(Term t) {
  const Term* o = t.is_local_ref() ? nullptr : t.boxed_ptr();
  const std::uint32_t* numbers = o ? reinterpret_cast<const std::uint32_t*>(reinterpret_cast<const ExternalObject*>(o)->data) : ref_of(t)->numbers;
  const Word count = o && o->header_arity() == 5 ? 5 : 3;
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

}  // namespace

std::string encode_external(Term t, EncodeOptions options) {
  std::string body = Encoder(options).run(t);
  const auto n = body.size();
  if (options.compression > 0 && n > 5 && n <= UINT32_MAX) {
    // Tag and length take five bytes: compressed data is used only when it is smaller all the same.
    std::string packed(n, 0);
    uLongf packed_size = static_cast<uLongf>(n - 5);
    if (compress2(reinterpret_cast<Bytef*>(packed.data()), &packed_size, reinterpret_cast<const Bytef*>(body.data()), static_cast<uLong>(n),
                  options.compression) == Z_OK) {
      packed.resize(packed_size);
      const auto byte = [n](int shift) { return static_cast<std::uint8_t>(n >> shift); };
      return options.version_byte ? with_prefix({etf::kVersion, etf::kCompressed, byte(24), byte(16), byte(8), byte(0)}, packed)
                                  : with_prefix({etf::kCompressed, byte(24), byte(16), byte(8), byte(0)}, packed);
    }
  }
  return options.version_byte ? with_prefix({etf::kVersion}, body) : body;
}

}  // namespace vmrun

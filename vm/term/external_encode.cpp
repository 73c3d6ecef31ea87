// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include <bit>
#include <cstring>
#include <random>
#include <string_view>

#include "vm/base/allocate.hpp"
#include "vm/base/release.hpp"
#include "vm/base/work_stack.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/big.hpp"
#include "vm/term/bits.hpp"
#include "vm/term/external.hpp"
#include "vm/term/external_atoms.hpp"
#include "vm/term/external_tags.hpp"
#include "vm/term/fun.hpp"
#include "vm/term/map.hpp"
#include "vm/term/native_record.hpp"
#include "vm/term/node.hpp"
#include "vm/term/number_text.hpp"
#include "vm/term/pid_numbers.hpp"
#include "vm/term/term_upcalls.hpp"

namespace vmrun {

namespace {

/// Writes a term piece by piece. A stack of frames holds what is still to be written. Nothing
/// collects meanwhile, so the frames point into the heap.
class TermWriter {
 public:
  TermWriter(Term t, const EncodeOptions& options, SWord steps, ExternalBytes& out)
      : options_(options), out_(out), left_(steps), root_(t) {
    now_ = elements(&root_, 1);
  }
  ~TermWriter() {
    for (;; now_ = later_.pop()) {
      free_bytes(now_.owned);
      if (later_.empty()) return;
    }
  }

  Encoded run() {
    for (;;) {
      if (--left_ < 0) return too_large_ ? Encoded::kTooLarge : Encoded::kMoreSteps;
      if (write_next()) continue;
      free_bytes(now_.owned);
      now_.owned = nullptr;
      if (later_.empty()) return Encoded::kWhole;
      now_ = later_.pop();
    }
  }
  SWord steps_left() const { return left_; }

 private:
  static bool is_byte(Term t) { return (t.raw() & ~Word{0xFF0}) == Term::small(0).raw(); }
  enum class Kind : std::uint8_t {
    kElements,  // `left` terms at `next`
    kPairs,     // `left` terms, alternating between `next` and `values`
    kList,      // `rest`: heads until the tail, which is written as a term
    kFunEnd,    // writes the size of a fun at `left`
  };
  struct Frame {
    Kind kind;
    const Term* next;
    Word left;
    const Term* values;
    Term rest;
    Term* owned;  // what `next` points to, if the frame owns it
  };
  static Frame elements(const Term* terms, Word count, Term* owned = nullptr) {
    return {Kind::kElements, terms, count, nullptr, Term::nil(), owned};
  }
  static Frame fun_end(std::size_t size_at) {
    return {Kind::kFunEnd, nullptr, size_at, nullptr, Term::nil(), nullptr};
  }

  /// Writes the next part of the frame; false when there are no more.
  bool write_next() {
    switch (now_.kind) {
      case Kind::kElements:
        if (now_.left == 0) return false;
        --now_.left;
        write(*now_.next++);
        return true;
      case Kind::kPairs:
        if (now_.left == 0) return false;
        write(now_.left-- % 2 == 0 ? *now_.next++ : *now_.values++);
        return true;
      case Kind::kList: {
        const Term t = now_.rest;
        if (t.is_list()) now_.rest = t.tail();
        else now_ = elements(nullptr, 0);
        write(t.is_list() ? t.head() : t);
        return true;
      }
      case Kind::kFunEnd: out_.end_sized(now_.left); return false;
    }
    return false;
  }

  /// Makes the frame the next one to be written.
  void push(const Frame& f) {
    const bool done = now_.kind == Kind::kElements && now_.left == 0 && !now_.owned;
    if (!done) later_.push(now_);
    now_ = f;
  }
  /// Stops the writing.
  void give_up() {
    too_large_ = true;
    left_ = -1;
  }
  /// A part that takes many steps calls this first, and is left out when it returns false.
  bool spend(Word steps) { return (left_ -= static_cast<SWord>(steps)) >= 0; }

  [[gnu::always_inline]] void write(Term t) {
    if (is_byte(t)) return out_.tag_u8(etf::kSmallInteger, t.raw() >> 4);
    if (t.is_atom()) return write_atom(t);
    write_object(t);
  }
  void write_object(Term t);
  void write_small(SWord v);
  void write_big(Term t);
  void write_atom(Term atom);
  void write_float(double d);
  bool insert_binary(Term t, const BitView& v);
  void write_bitstring(Term t);
  void write_list(Term t);
  void write_map(Term t);
  void write_pairs(Term t, Word n);
  void write_record(Term t);
  void write_fun(Term t);
  void write_identifier_node(const Term* o);
  void write_pid(Term t);
  void write_port(Term t);
  void write_reference(Term t);

  const EncodeOptions& options_;
  ExternalBytes& out_;
  SWord left_;
  bool too_large_ = false;
  const Term root_;
  Frame now_;
  WorkStack<Frame, 16> later_;
};

[[gnu::no_stack_protector]] void TermWriter::write_object(Term t) {
  if (t.is_small()) return write_small(t.small_value());
  if (t.is_nil()) return out_.u8(etf::kNil);
  if (t.is_list()) return write_list(t);
  if (t.is_local_pid()) return write_pid(t);
  if (t.is_local_port()) return write_port(t);
  const Term* o = t.boxed_ptr();
  switch (o->header_sub()) {
    case Term::Sub::kTuple: {
      const Word n = o->header_arity();
      if (n <= 255) out_.tag_u8(etf::kSmallTuple, n);
      else out_.tag_be32(etf::kLargeTuple, n);
      return push(elements(o + 1, n));
    }
    case Term::Sub::kPosBig:
    case Term::Sub::kNegBig: return write_big(t);
    case Term::Sub::kFloat: return write_float(float_of(t)->value);
    case Term::Sub::kRefcBinary:
    case Term::Sub::kHeapBinary:
    case Term::Sub::kMatchContext:
    case Term::Sub::kSubBinary: return write_bitstring(t);
    case Term::Sub::kMap: return write_map(t);
    case Term::Sub::kRecord: return write_record(t);
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
  if (v >= 0 && v <= 255) return out_.tag_u8(etf::kSmallInteger, static_cast<Word>(v));
  if (v >= INT32_MIN && v <= INT32_MAX) return out_.tag_be32(etf::kInteger, static_cast<std::uint32_t>(v));
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
  if (options_.atoms) {
    if (const int index = options_.atoms->index_of(atom); index >= 0)
      return out_.tag_u8(etf::kAtomReference, static_cast<Word>(index));
  }
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
  if (text.size() <= 255) {
    out_.tag_u8(etf::kSmallAtomUtf8, text.size());
  } else {
    out_.u8(etf::kAtomUtf8);
    out_.be(text.size(), 2);
  }
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

/// Inserts the bytes of a large binary outside the heap, by reference. Returns false when they must
/// be copied.
bool TermWriter::insert_binary(Term t, const BitView& v) {
  const Term* o = original_of(t).boxed_ptr();
  if (o->header_sub() != Term::Sub::kRefcBinary || !v.aligned()) return false;
  const Word whole = v.size_bytes();
  out_.insert(reinterpret_cast<const RefcBinary*>(o)->binary, v.bytes(), whole);
  if (!v.is_binary()) out_.u8(v.bytes()[whole] & (0xFF00u >> (v.size_bits & 7)));
  return true;
}

void TermWriter::write_bitstring(Term t) {
  const BitView v = bits_of(t);
  const Word n = (v.size_bits + 7) / 8;
  if (n > UINT32_MAX) [[unlikely]]
    return give_up();
  out_.tag_be32(v.is_binary() ? etf::kBinary : etf::kBitBinary, n);
  if (!v.is_binary()) out_.u8(v.size_bits & 7);
  if (options_.insert_binaries && n > kHeapBinaryMaxBytes && insert_binary(t, v)) return;
  if (!spend(n / 64)) return;
  if (v.aligned() && v.is_binary()) return out_.bytes(v.bytes(), n);
  std::uint8_t* p = out_.room(n);
  p[n - 1] = 0;
  copy_bits(p, 0, v.base, v.offset_bits, v.size_bits);
  out_.advance(n);
}

void TermWriter::write_list(Term t) {
  constexpr Word kMaxString = 0xFFFF;
  constexpr Word kCellsAtOnce = 0x10000;
  Word n = 0;
  Term end = t;
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
  out_.tag_be32(etf::kList, n);
  push({Kind::kList, nullptr, 0, nullptr, t, nullptr});
}

[[gnu::no_stack_protector]] void TermWriter::write_map(Term t) {
  const Word n = map_size(t);
  if (n <= kFlatMapMax) {
    const FlatMap* m = flatmap_of(t);
    out_.tag_be32(etf::kMap, n);
    if (options_.deterministic && release_has(Trait::kAtomNumberOrder)) return write_pairs(t, n);
    return push({Kind::kPairs, m->keys.boxed_ptr() + 1, 2 * n, m->values(), Term::nil(), nullptr});
  }
  if (!spend(n)) return;
  out_.tag_be32(etf::kMap, n);
  write_pairs(t, n);
}

/// Writes the pairs of a map from a copy, which can be sorted.
void TermWriter::write_pairs(Term t, Word n) {
  auto* pairs = static_cast<Term*>(allocate_bytes(2 * n * sizeof(Term), "the pairs of a map"));
  Term* p = pairs;
  MapIterator it(t);
  while (it.next(&p[0], &p[1])) p += 2;
  if (options_.deterministic) sort_pairs(pairs, n);
  push(elements(pairs, 2 * n, pairs));
}

void TermWriter::write_record(Term t) {
  const RecordDefinition d = definition_of(t);
  const Word n = d.field_count();
  if (!spend(n)) return;
  out_.tag_be32(etf::kRecord, n);
  out_.u8(d.exported() == atoms::true_);
  write_atom(d.module());
  write_atom(d.name());
  for (Word i = 0; i < n; ++i) write_atom(d.field(i));
  push(elements(record_values(t), n));
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
  const std::size_t size_at = out_.begin_sized();
  out_.u8(f->arity);
  out_.bytes(e.uniq, sizeof e.uniq);
  out_.be(e.index, 4);
  out_.be(f->free_count, 4);
  write_atom(e.module);
  write_small(e.index);
  write_small(e.old_uniq);
  write_pid(release_has(Trait::kAnonymousFuns) ? kInitPid : f->creator);
  push(fun_end(size_at));
  push(elements(f->environment(), f->free_count));
}

void TermWriter::write_identifier_node(const Term* o) {
  if (!o && options_.local) return write_atom(atoms::empty_atom);  // the decoder knows that it is this node
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
  out_.be(o ? number & 0xFFFFFFFF : pid_number(number), 4);
  out_.be(o ? number >> 32 : pid_serial(number), 4);
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
  // To nodes that know this node by name, an alias names its owner after its three numbers.
  const bool is_own_alias = !o && is_alias(t), says_owner = is_own_alias && local_node_creation() != 0;
  if (is_own_alias && !says_owner) term_upcalls.alias_written(numbers, ref_of(t)->owner);
  const Word count = o && o->header_arity() == 5 ? 5 : 3;
  if (t.is_boxed_sub(Term::Sub::kMagicRef)) term_upcalls.expose_resource(magic_ref_of(t)->resource);
  out_.u8(etf::kNewerReference);
  out_.be(says_owner ? 5 : count, 2);
  write_identifier_node(o);
  out_.be(creation_of(o), 4);
  for (Word i = 0; i < count; ++i) out_.be(numbers[i], 4);
  if (says_owner) out_.be(std::rotl(ref_of(t)->owner.id_number(), 32), 8);
}

/// Compresses the body behind the version byte of `bytes` in place, if that makes it smaller.
void compress(const EncodeOptions& options, std::size_t begin, ExternalBytes* bytes) {
  const std::uint8_t* body = bytes->own_bytes().data() + begin;
  const std::size_t n = bytes->size() - begin;
  // The tag and the length take five bytes, which count too.
  if (n <= 5 || n > UINT32_MAX) return;
  std::string packed(n, 0);
  uLongf packed_size = static_cast<uLongf>(n - 5);
  if (compress2(reinterpret_cast<Bytef*>(packed.data()), &packed_size, body, static_cast<uLong>(n),
                options.compression) != Z_OK)
    return;
  bytes->cut(begin);
  bytes->u8(etf::kCompressed);
  bytes->be(n, 4);
  bytes->bytes(packed.data(), packed_size);
}

}  // namespace

std::uint64_t local_encoding_mark() {
  static const std::uint64_t mark = [] {
    std::random_device random;
    return std::uint64_t{random()} << 32 | random();
  }();
  return mark;
}

Encoded encode_external_within(SWord* steps, Term t, const EncodeOptions& options, ExternalBytes* bytes) {
  if (options.version_byte) bytes->u8(etf::kVersion);
  if (options.local) {
    bytes->u8(etf::kLocal);
    bytes->be(local_encoding_mark(), 8);
  }
  const std::size_t begin = bytes->own_bytes().size();
  TermWriter writer(t, options, *steps, *bytes);
  if (const Encoded how = writer.run(); how != Encoded::kWhole) return how;
  const SWord at_first = *steps;
  *steps = writer.steps_left();
  if (options.compression > 0 && !options.insert_binaries) {
    // Compressing a byte takes about three steps.
    if (static_cast<SWord>(bytes->size()) > at_first / 4) return Encoded::kMoreSteps;
    compress(options, begin, bytes);
  }
  return Encoded::kWhole;
}

std::string encode_external(Term t, EncodeOptions options) {
  ExternalBytes bytes;
  SWord steps = INT64_MAX;
  if (encode_external_within(&steps, t, options, &bytes) != Encoded::kWhole) return {};
  return std::string(bytes.text());
}

}  // namespace vmrun

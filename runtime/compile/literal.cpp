#include "runtime/compile/literal.hpp"

#include <bit>
#include <cstring>
#include <functional>
#include <string_view>

#include "vm/term/atom.hpp"
#include "vm/term/layout.hpp"

namespace vmrun::compile {

namespace {

Word big_limbs(Term t) { return t.boxed_ptr()->header_arity(); }
bool big_negative(Term t) { return t.boxed_ptr()->header_sub() == Term::Sub::kNegBig; }
const Word* limbs(Term t) { return reinterpret_cast<const BigObject*>(t.boxed_ptr())->limbs; }

std::string_view bytes_of(Term t) {
  auto* h = reinterpret_cast<const HeapBinary*>(t.boxed_ptr());
  if (t.boxed_ptr()->header_sub() == Term::Sub::kHeapBinary) return {reinterpret_cast<const char*>(h->data), h->size_bytes};
  if (t.boxed_ptr()->header_sub() == Term::Sub::kRefcBinary) {
    auto* r = reinterpret_cast<const RefcBinary*>(t.boxed_ptr());
    return {reinterpret_cast<const char*>(r->bytes), r->size_bytes};
  }
  auto* s = reinterpret_cast<const SubBinary*>(t.boxed_ptr());
  return bytes_of(s->original).substr(s->offset_bytes, s->size_bytes);
}

std::uint64_t mix(std::uint64_t h, std::uint64_t x) { return (h ^ x) * 0x9E3779B97F4A7C15u ^ (h >> 29); }

struct Writer {
  std::vector<std::uint8_t>& out;
  void u8(std::uint64_t v) { out.push_back(static_cast<std::uint8_t>(v)); }
  void u16(std::uint64_t v) { u8(v >> 8), u8(v); }
  void u32(std::uint64_t v) { u16(v >> 16), u16(v); }
  void bytes(std::string_view s) { out.insert(out.end(), s.begin(), s.end()); }
};

void encode_integer(Writer& w, Term t) {
  bool negative;
  Word single = 0;
  std::vector<std::uint8_t> magnitude;
  if (t.is_small()) {
    SWord v = t.small_value();
    if (v >= 0 && v < 256) {
      w.u8(97), w.u8(static_cast<Word>(v));
      return;
    }
    if (v >= INT32_MIN && v <= INT32_MAX) {
      w.u8(98), w.u32(static_cast<Word>(v));
      return;
    }
    negative = v < 0;
    single = negative ? Word{0} - static_cast<Word>(v) : static_cast<Word>(v);
    for (Word x = single; x != 0; x >>= 8) magnitude.push_back(static_cast<std::uint8_t>(x));
  } else {
    negative = big_negative(t);
    for (Word i = 0; i < big_limbs(t); i++) {
      for (int k = 0; k < 64; k += 8) magnitude.push_back(static_cast<std::uint8_t>(limbs(t)[i] >> k));
    }
    while (!magnitude.empty() && magnitude.back() == 0) magnitude.pop_back();
  }
  if (magnitude.size() < 256) w.u8(110), w.u8(magnitude.size());
  else w.u8(111), w.u32(magnitude.size());
  w.u8(negative);
  w.bytes({reinterpret_cast<const char*>(magnitude.data()), magnitude.size()});
}

}  // namespace

bool same_literal(Term a, Term b) {
  for (;;) {
    if (a == b) return true;
    if (a.is_list() && b.is_list()) {
      if (!same_literal(a.head(), b.head())) return false;
      a = a.tail();
      b = b.tail();
      continue;
    }
    if (!a.is_boxed() || !b.is_boxed()) return false;
    if (a.is_tuple() && b.is_tuple()) {
      if (a.tuple_arity() != b.tuple_arity()) return false;
      for (Word i = 0; i < a.tuple_arity(); i++) {
        if (!same_literal(a.element(i), b.element(i))) return false;
      }
      return true;
    }
    if (a.is_float() && b.is_float()) return std::bit_cast<Word>(float_of(a)->value) == std::bit_cast<Word>(float_of(b)->value);
    if (a.is_big() && b.is_big()) {
      return a.boxed_ptr()->raw() == b.boxed_ptr()->raw() && std::memcmp(limbs(a), limbs(b), big_limbs(a) * 8) == 0;
    }
    if (a.is_bitstring() && b.is_bitstring()) return bytes_of(a) == bytes_of(b);
    if (a.is_map() && b.is_map() && map_kind(*a.boxed_ptr()) == MapKind::kFlat && map_kind(*b.boxed_ptr()) == MapKind::kFlat) {
      FlatMap *x = flatmap_of(a), *y = flatmap_of(b);
      if (x->size != y->size || !same_literal(x->keys, y->keys)) return false;
      for (Word i = 0; i < x->size; i++) {
        if (!same_literal(x->values()[i], y->values()[i])) return false;
      }
      return true;
    }
    return false;
  }
}

std::uint64_t literal_hash(Term t) {
  std::uint64_t h = 17;
  for (; t.is_list(); t = t.tail()) h = mix(h, literal_hash(t.head()));
  if (t.is_immed()) return mix(h, t.raw());
  if (t.is_tuple()) {
    for (Word i = 0; i < t.tuple_arity(); i++) h = mix(h, literal_hash(t.element(i)));
    return h;
  }
  if (t.is_float()) return mix(h, std::bit_cast<Word>(float_of(t)->value));
  if (t.is_big()) return mix(h, limbs(t)[0]);
  if (t.is_bitstring()) return mix(h, std::hash<std::string_view>{}(bytes_of(t)));
  return mix(h, t.boxed_ptr()->raw());
}

void encode_external(Term t, std::vector<std::uint8_t>& out) {
  Writer w{out};
  if (t.is_list()) {
    // A proper list of bytes has a short form.
    Word length = 0;
    bool bytes = true;
    Term end = t;
    for (; end.is_list(); end = end.tail(), length++) bytes &= end.head().is_small() && end.head().small_value() >= 0 && end.head().small_value() < 256;
    if (bytes && end.is_nil() && length < 65536) {
      w.u8(107), w.u16(length);
      for (; t.is_list(); t = t.tail()) w.u8(static_cast<Word>(t.head().small_value()));
      return;
    }
    w.u8(108), w.u32(length);
    for (; t.is_list(); t = t.tail()) encode_external(t.head(), out);
    encode_external(t, out);
    return;
  }
  if (t.is_nil()) return w.u8(106);
  if (t.is_atom()) {
    std::string_view text = atom_text(t);
    if (text.size() < 256) w.u8(119), w.u8(text.size());
    else w.u8(118), w.u16(text.size());
    return w.bytes(text);
  }
  if (t.is_integer()) return encode_integer(w, t);
  if (t.is_float()) {
    Word bits = std::bit_cast<Word>(float_of(t)->value);
    w.u8(70), w.u32(bits >> 32), w.u32(bits);
    return;
  }
  if (t.is_tuple()) {
    if (t.tuple_arity() < 256) w.u8(104), w.u8(t.tuple_arity());
    else w.u8(105), w.u32(t.tuple_arity());
    for (Word i = 0; i < t.tuple_arity(); i++) encode_external(t.element(i), out);
    return;
  }
  if (t.is_map()) {
    FlatMap* m = flatmap_of(t);
    w.u8(116), w.u32(m->size);
    for (Word i = 0; i < m->size; i++) {
      encode_external(m->keys.element(i), out);
      encode_external(m->values()[i], out);
    }
    return;
  }
  if (t.is_bitstring()) {
    std::string_view s = bytes_of(t);
    w.u8(109), w.u32(s.size());
    return w.bytes(s);
  }
  if (t.is_fun() && fun_of(t)->is_external) return w.u8(106);
}

}  // namespace vmrun::compile

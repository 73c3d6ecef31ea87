// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <random>
#include <vector>

#include "vm/heap/heap.hpp"
#include "vm/heap/literal.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/layout.hpp"

/// Random term graphs for the tests of copy, comparison and collection: every kind of object,
/// sharing, literals, long lists, odd bits. One seed gives one graph, so two builders with the same
/// seed build equal terms independently.
namespace vmrun::test {

/// A structural dump that ignores where things lie: equal terms give equal words. A second
/// implementation to check the real ones against; recursion is fine for the depths built here,
/// lists are iterated.
inline void flatten(Term t, std::vector<Word>& out) {
  while (t.is_list()) {
    out.push_back(1);
    flatten(t.head(), out);
    t = t.tail();
  }
  if (t.is_immed()) {
    out.push_back(t.raw());
    return;
  }
  const Term* p = t.boxed_ptr();
  const Term h = *p;
  switch (h.header_sub()) {
    case Term::Sub::kTuple:
      out.push_back(h.raw());
      for (Word i = 1; i <= h.header_arity(); ++i) flatten(p[i], out);
      break;
    case Term::Sub::kMap:
      out.push_back(h.raw());
      if (map_kind(h) != MapKind::kHashNode) out.push_back(p[1].raw());
      for (Word i = map_kind(h) == MapKind::kHashNode ? 1 : 2; i < object_words(h); ++i) flatten(p[i], out);
      break;
    case Term::Sub::kFun: {
      const auto* f = reinterpret_cast<const FunObject*>(p);
      out.push_back(reinterpret_cast<Word>(f->entry));
      out.push_back(f->free_count);
      for (Word i = 0; i < f->free_count; ++i) flatten(f->environment()[i], out);
      break;
    }
    case Term::Sub::kHeapBinary:
    case Term::Sub::kRefcBinary:
    case Term::Sub::kSubBinary: {
      const Term* original = p;
      Word offset = 0, bits = p[1].raw() * 8;
      if (h.header_sub() == Term::Sub::kSubBinary) {
        const auto* s = reinterpret_cast<const SubBinary*>(p);
        original = s->original.boxed_ptr();
        offset = s->offset_bytes * 8 + s->bit_offset;
        bits += s->bit_size;
      }
      const std::uint8_t* bytes = original->header_sub() == Term::Sub::kRefcBinary
                                      ? reinterpret_cast<const RefcBinary*>(original)->bytes
                                      : reinterpret_cast<const HeapBinary*>(original)->data;
      out.push_back(bits << 8 | 0xB1);
      for (Word i = offset; i < offset + bits; ++i) out.push_back(bytes[i / 8] >> (7 - i % 8) & 1);
      break;
    }
    default:
      for (Word i = 0; i < object_words(h); ++i) out.push_back(p[i].raw());
  }
}
inline std::vector<Word> flattened(Term t) {
  std::vector<Word> out;
  flatten(t, out);
  return out;
}

class RandomTerms {
 public:
  explicit RandomTerms(std::uint64_t seed) : random_(seed) {}

  Word below(Word n) { return random_() % n; }

  Term immediate() {
    switch (below(5)) {
      case 0: return Term::nil();
      case 1: return Term::pid(below(1000));
      case 2: return Term::atom(static_cast<std::uint32_t>(below(atoms::kWellKnownCount)));
      case 3: return Term::small(static_cast<SWord>(random_()) >> 4);
      default: return Term::small(static_cast<SWord>(below(20)) - 10);
    }
  }

  Term term(Heap& heap, int depth) {
    if (depth <= 0 || below(8) == 0) return leaf(heap);
    if (!shared_.empty() && below(6) == 0) return shared_[below(shared_.size())];
    const Term t = node(heap, depth - 1);
    if (below(3) == 0) shared_.push_back(t);
    return t;
  }
  /// Before something moved the terms built so far.
  void forget_shared() { shared_.clear(); }

  Term binary(Heap& heap) {
    return below(2) ? heap_binary(heap, below(65)) : refc_binary(heap, 65 + below(200));
  }

 private:
  Term leaf(Heap& heap) {
    switch (below(6)) {
      case 0: {
        Term* hp = heap.alloc(2);
        return make_float(hp, static_cast<double>(below(1000)) / 8);
      }
      case 1: {
        const Word n = 1 + below(4);
        Term* p = heap.alloc(n + 1);
        p[0] = Term::header(below(2) ? Term::Sub::kPosBig : Term::Sub::kNegBig, n);
        for (Word i = 1; i <= n; ++i) p[i] = Term::from_raw(random_() | Word{1} << 63);
        return Term::boxed(p);
      }
      case 2: {
        const bool alias = below(2);
        auto* r = reinterpret_cast<RefObject*>(heap.alloc(alias ? 4 : 3));
        r->header = Term::header(Term::Sub::kRef, alias ? 3 : 2);
        for (auto& n : r->numbers) n = static_cast<std::uint32_t>(random_());
        r->unused = 0;
        if (alias) r->owner = Term::pid(below(1000));
        return Term::boxed(&r->header);
      }
      case 3: return binary(heap);
      default: return immediate();
    }
  }

  Term node(Heap& heap, int depth) {
    switch (below(7)) {
      case 0: return list(heap, depth, 1 + below(40));
      case 1: return list(heap, depth, 1 + below(4));
      case 2: return flat_map(heap, depth);
      case 3: return fun(heap, depth);
      case 4: return sub_binary(heap);
      case 5: {
        const Term t = tuple(heap, depth);
        return below(10) == 0 ? make_literal(t) : t;
      }
      default: return tuple(heap, depth);
    }
  }

  Term tuple(Heap& heap, int depth) {
    const Word n = below(6);
    if (n == 0) return empty_tuple();
    std::vector<Term> elements;
    for (Word i = 0; i < n; ++i) elements.push_back(term(heap, depth));
    Term* p = heap.alloc(n + 1);
    p[0] = Term::header(Term::Sub::kTuple, n);
    for (Word i = 0; i < n; ++i) p[i + 1] = elements[i];
    return Term::boxed(p);
  }

  Term list(Heap& heap, int depth, Word n) {
    Term t = below(5) ? Term::nil() : term(heap, depth - 1);
    for (; n; --n) {
      const Term head = n % 4 ? immediate() : term(heap, depth);
      Term* hp = heap.alloc(2);
      t = make_cons(hp, head, t);
    }
    return t;
  }

  Term flat_map(Heap& heap, int depth) {
    const Word n = below(5);
    Term keys = empty_tuple();
    if (n) {  // small integers in ascending order are a valid key tuple
      Term* p = heap.alloc(n + 1);
      keys = Term::boxed(p);
      *p++ = Term::header(Term::Sub::kTuple, n);
      for (Word i = 0; i < n; ++i) *p++ = Term::small(static_cast<SWord>(i * 3));
    }
    std::vector<Term> values;
    for (Word i = 0; i < n; ++i) values.push_back(term(heap, depth));
    auto* m = reinterpret_cast<FlatMap*>(heap.alloc(3 + n));
    m->header = MapObject::make_header(MapKind::kFlat, 0, 2 + n);
    m->size = n;
    m->keys = keys;
    for (Word i = 0; i < n; ++i) m->values()[i] = values[i];
    return Term::boxed(&m->header);
  }

  Term fun(Heap& heap, int depth) {
    const Word n = below(4);
    std::vector<Term> environment;
    for (Word i = 0; i < n; ++i) environment.push_back(term(heap, depth));
    auto* f = reinterpret_cast<FunObject*>(heap.alloc(5 + n));
    std::memset(static_cast<void*>(f), 0, sizeof *f);
    f->header = Term::header(Term::Sub::kFun, 4 + n);
    f->entry = reinterpret_cast<FunEntry*>(Word{64});
    f->free_count = static_cast<std::uint32_t>(n);
    f->creator = Term::pid(1);
    for (Word i = 0; i < n; ++i) f->environment()[i] = environment[i];
    return Term::boxed(&f->header);
  }

  Term heap_binary(Heap& heap, Word bytes) {
    const Word words = words_for_bytes(bytes);
    Term* p = heap.alloc(2 + words);
    auto* b = reinterpret_cast<HeapBinary*>(p);
    b->header = Term::header(Term::Sub::kHeapBinary, 1 + words);
    b->size_bytes = bytes;
    for (Word i = 0; i < words * 8; ++i) b->data[i] = i < bytes ? static_cast<std::uint8_t>(random_()) : 0;
    return Term::boxed(p);
  }

  Term refc_binary(Heap& heap, Word bytes) {
    Binary* binary = Binary::create(bytes);
    for (Word i = 0; i < bytes; ++i) binary->data[i] = static_cast<std::uint8_t>(random_());
    auto* r = reinterpret_cast<RefcBinary*>(heap.alloc(6));
    r->header = Term::header(Term::Sub::kRefcBinary, 5);
    r->size_bytes = bytes;
    r->binary = binary;
    r->bytes = binary->data;
    r->flags = 0;
    heap.link_off_heap(reinterpret_cast<OffHeapObject*>(r), words_for_bytes(bytes));
    return Term::boxed(&r->header);
  }

  Term sub_binary(Heap& heap) {
    const Term original = binary(heap);
    const Word bytes = original.boxed_ptr()[1].raw();
    const Word first = below(bytes * 8 + 1), bits = below(bytes * 8 - first + 1);
    auto* s = reinterpret_cast<SubBinary*>(heap.alloc(5));
    std::memset(static_cast<void*>(s), 0, sizeof *s);
    s->header = Term::header(Term::Sub::kSubBinary, 4);
    s->size_bytes = bits / 8;
    s->bit_size = bits % 8;
    s->offset_bytes = first / 8;
    s->bit_offset = first % 8;
    s->original = original;
    return Term::boxed(&s->header);
  }

  std::mt19937_64 random_;
  std::vector<Term> shared_;
};

}  // namespace vmrun::test

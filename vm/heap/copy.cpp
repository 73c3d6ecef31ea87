// SPDX-License-Identifier: Apache-2.0
#include "vm/heap/copy.hpp"

#include <cstring>

#include "vm/base/allocate.hpp"
#include "vm/base/work_stack.hpp"
#include "vm/heap/literal.hpp"
#include "vm/heap/off_heap.hpp"
#include "vm/probes/fire.hpp"
#include "vm/term/bits.hpp"

// A copy never keeps a sub-binary of bytes in a heap: it copies just the bytes that the sub-binary
// shows. A part of an off-heap binary becomes a handle that starts at its first byte. Only parts
// that begin or end within a byte need a sub-binary object again.

namespace vmrun {
namespace {

using Sub = Term::Sub;

struct BinaryPart {
  const RefcBinary* refc;     // nullptr: the bytes lie in a heap
  const std::uint8_t* bytes;  // first byte with a bit of it
  Word size_bytes;            // whole bytes
  Word touched_bytes;         // bytes with a bit of it
  unsigned bit_offset, bit_size;
  bool odd() const { return touched_bytes != size_bytes; }
};

BinaryPart part_of(const SubBinary& s) {
  BinaryPart part{};
  const Term* original = s.original.boxed_ptr();
  if (original->header_sub() == Sub::kRefcBinary) {
    part.refc = reinterpret_cast<const RefcBinary*>(original);
    part.bytes = part.refc->bytes + s.offset_bytes;
  } else {
    part.bytes = reinterpret_cast<const HeapBinary*>(original)->data + s.offset_bytes;
  }
  part.size_bytes = s.size_bytes;
  part.bit_offset = s.bit_offset;
  part.bit_size = s.bit_size;
  part.touched_bytes = s.size_bytes + (s.bit_offset + s.bit_size + 7u) / 8;
  return part;
}

Word part_words(const SubBinary& s) {
  const BinaryPart part = part_of(s);
  return (part.odd() ? 5 : 0) + (part.refc ? 6 : 2 + words_for_bytes(part.touched_bytes));
}

/// The literals that a copy shares, as they are when the copy begins.
struct SharedLiterals {
  Word base = literal_base, bytes = literal_bytes;
  /// With kCopied only the empty tuple is shared, which is the area's first word.
  explicit SharedLiterals(Literals literals = Literals::kShared) {
    if (literals == Literals::kCopied && bytes) bytes = sizeof(Term);
  }
  bool contains(const Term* p) const {
    return reinterpret_cast<Word>(p) - base < bytes && !leaving_literals.contains(p);
  }
};

/// Limits of counting. The count begins at `first`, and the limit is passed when the count is above
/// 0. So the check costs one instruction, and only where a walk goes on.
struct NoLimit {
  static constexpr SWord first = 0;
  static constexpr bool is_passed(SWord) { return false; }
};
struct CopiedHere {
  static constexpr SWord first = -static_cast<SWord>(kWordsCopiedHere);
  static bool is_passed(SWord words) { return words > 0; }
};
struct AtMost {
  const SWord first;
  explicit AtMost(SWord most) : first(-most) {}
  static bool is_passed(SWord words) { return words > 0; }
};
constexpr Word kTooMany = ~Word{0};

/// One implementation for both sizes: in full, or with literals counted as nothing. When the words
/// pass the limit, returns a number above the limit, which may be kTooMany.
template <bool kCountLiterals, class Limit>
[[gnu::no_stack_protector]] Word count_words(Term t, Limit limit) {
  constexpr Word kWide = 1000;
  SWord words = limit.first;
  const SharedLiterals shared;
  const auto counts = [&](Term x) { return !x.is_immed() && (kCountLiterals || !shared.contains(x.ptr())); };
  if (!counts(t)) return 0;
  WorkStack<Term> work;
  for (;;) {
    if (t.is_list()) {
      do {
        words += 2;
        if (limit.is_passed(words)) [[unlikely]]
          return kTooMany;
        const Term* cell = t.list_ptr();
        if (counts(cell[0])) work.push(cell[0]);
        t = cell[1];
      } while (t.is_list() && counts(t));
      if (counts(t)) continue;
    } else {
      const Term* p = t.boxed_ptr();
      const Term header = *p;
      const Term* fields = p;
      const Term* fields_end = p;
      const Word size = object_words(header);
      switch (header.header_sub()) {
        case Sub::kTuple:
          if (size - 2 > kWide) [[unlikely]] {
            if (size == 1) --words;  // the empty tuple is always a literal
            else if (limit.is_passed(words + static_cast<SWord>(size))) return kTooMany;
          }
          words += static_cast<SWord>(size);
          fields = p + 1;
          fields_end = p + size;
          break;
        case Sub::kRecord:
          words += static_cast<SWord>(size);
          fields = p + 1;
          fields_end = p + size;
          break;
        case Sub::kMap:
          words += static_cast<SWord>(size);
          fields = p + (map_kind(header) == MapKind::kHashNode ? 1 : 2);
          fields_end = p + size;
          break;
        case Sub::kFun:
          words += static_cast<SWord>(size);
          fields = reinterpret_cast<const FunObject*>(p)->environment();
          fields_end = p + size;
          if (const Term creator = reinterpret_cast<const FunObject*>(p)->creator; counts(creator))
            work.push(creator);
          break;
        case Sub::kSubBinary:
          words += static_cast<SWord>(part_words(*reinterpret_cast<const SubBinary*>(p)));
          break;
        case Sub::kMatchContext:
          words += static_cast<SWord>(part_words(rest_of(*reinterpret_cast<const MatchContext*>(p))));
          break;
        default: words += static_cast<SWord>(size);
      }
      Term last;
      for (; fields < fields_end; ++fields) {
        if (!counts(*fields)) continue;
        if (last) work.push(last);
        last = *fields;
      }
      if (last) {
        if (limit.is_passed(words)) [[unlikely]]
          return kTooMany;
        t = last;
        continue;
      }
    }
    if (work.empty()) return static_cast<Word>(words - limit.first);
    if (limit.is_passed(words)) [[unlikely]]
      return kTooMany;
    t = work.pop();
  }
}

/// The state of one copy. Objects are copied whole, and their fields still point into the source. A
/// scan over the target then replaces those pointers and copies what they point to behind. So the
/// target itself is the queue.
struct Copier {
  Term* hp;
  OffHeapObject* off_heap;
  Term* plain_begin = nullptr;  // the latest list whose cells hold immediates only: it needs no scan
  Term* plain_end = nullptr;

  void refc(const RefcBinary* source, std::uint8_t* bytes, Word size_bytes) {
    auto* r = reinterpret_cast<RefcBinary*>(hp);
    r->header = source->header;
    r->size_bytes = size_bytes;
    r->binary = source->binary;
    r->bytes = bytes;
    r->flags = 0;  // only the source may go on appending, and only once it is the sole owner again
    r->binary->retain();
    r->next = off_heap;
    off_heap = reinterpret_cast<OffHeapObject*>(r);
    hp += 6;
  }

  void heap_binary(const std::uint8_t* bytes, Word size_bytes) {
    const Word data_words = words_for_bytes(size_bytes);
    auto* b = reinterpret_cast<HeapBinary*>(hp);
    b->header = Term::header(Sub::kHeapBinary, 1 + data_words);
    b->size_bytes = size_bytes;
    if (data_words) hp[1 + data_words] = Term{};  // padding is zero
    std::memcpy(b->data, bytes, size_bytes);
    hp += 2 + data_words;
  }

  Term part(const SubBinary& source) {
    const BinaryPart p = part_of(source);
    const Term original = Term::boxed(hp);
    if (p.refc) {
      refc(p.refc, const_cast<std::uint8_t*>(p.bytes), p.touched_bytes);
    } else {
      heap_binary(p.bytes, p.touched_bytes);
    }
    if (!p.odd()) return original;
    auto* s = reinterpret_cast<SubBinary*>(hp);
    *s = source;
    s->offset_bytes = 0;
    s->is_writable = 0;
    s->original = original;
    hp += 5;
    return Term::boxed(&s->header);
  }

  [[gnu::no_stack_protector]] Term boxed(const Term* p) {
    const Term header = *p;
    Term* const to = hp;
    switch (header.header_sub()) {
      case Sub::kRefcBinary: {
        const auto* source = reinterpret_cast<const RefcBinary*>(p);
        refc(source, source->bytes, source->size_bytes);
        break;
      }
      case Sub::kMagicRef: {
        auto* r = reinterpret_cast<MagicRefObject*>(hp);
        *r = *reinterpret_cast<const MagicRefObject*>(p);
        r->resource->retain();
        r->next = off_heap;
        off_heap = reinterpret_cast<OffHeapObject*>(r);
        hp += sizeof(MagicRefObject) / sizeof(Term);
        break;
      }
      case Sub::kSubBinary: return part(*reinterpret_cast<const SubBinary*>(p));
      case Sub::kMatchContext: return part(rest_of(*reinterpret_cast<const MatchContext*>(p)));
      case Sub::kExternalPid:
      case Sub::kExternalPort:
      case Sub::kExternalRef: {
        auto* o = reinterpret_cast<ExternalObject*>(hp);
        for (Word i = 0, size = object_words(header); i < size; ++i) *hp++ = p[i];
        o->node->retain();
        o->next = off_heap;
        off_heap = reinterpret_cast<OffHeapObject*>(o);
        break;
      }
      default: {
        const Word size = object_words(header);
        if (size == 1) [[unlikely]]
          return empty_tuple();
        for (Word i = 0; i < size; ++i) to[i] = p[i];
        hp += size;
      }
    }
    return Term::boxed(to);
  }

  /// Copies the cells of a list one after another, up to a tail that is shared or not a cell.
  Term list(Term t, const SharedLiterals& shared) {
    Term* const first = hp;
    Word tags = Term::kImmedTag;
    for (;;) {
      const Term* cell = t.list_ptr();
      hp[0] = cell[0];
      tags &= cell[0].raw();
      t = cell[1];
      if (!t.is_list() || shared.contains(t.ptr())) {
        hp[1] = t;
        hp += 2;
        if ((tags & t.raw() & Term::kPrimaryMask) == Term::kImmedTag) {
          plain_begin = first;
          plain_end = hp;
        }
        return Term::list(first);
      }
      hp[1] = Term::list(hp + 2);
      hp += 2;
    }
  }
};

/// Returns how many words at the start of an object hold no terms; all of its words if none does.
Word opaque_words(const Term* p) {
  const Term header = *p;
  switch (header.header_sub()) {
    case Sub::kTuple:
    case Sub::kRecord: return 1;
    case Sub::kMap: return map_kind(header) == MapKind::kHashNode ? 1 : 2;
    case Sub::kFun: return 3;  // the creator, a number that is not a pointer, and the environment follow
    default: return object_words(header);
  }
}

}  // namespace

Word size_words(Term t) { return count_words<true>(t, NoLimit()); }
Word copy_size_words(Term t) { return count_words<false>(t, NoLimit()); }
Word copy_size_words_here(Term t) { return count_words<false>(t, CopiedHere()); }
Word copy_size_words(Term t, Literals literals) {
  return literals == Literals::kShared ? copy_size_words(t) : size_words(t);
}
SWord size_words_within(SWord most, Term t) {
  const Word words = count_words<true>(t, AtMost(most));
  return words > static_cast<Word>(most) ? -1 : static_cast<SWord>(words);
}

namespace {

[[gnu::always_inline]] inline Term copy_with(const SharedLiterals& shared, Term t, Term*& hp,
                                             OffHeapObject*& off_heap) {
  if (t.is_immed() || shared.contains(t.ptr())) return t;
  Copier copier{hp, off_heap};
  const Word target = reinterpret_cast<Word>(hp);
  const auto copy = [&](Term x) {
    return x.is_list() ? copier.list(x, shared) : copier.boxed(x.boxed_ptr());
  };
  Term* scan = hp;
  const Term root = copy(t);
  if (scan == copier.plain_begin) scan = copier.plain_end;
  while (scan < copier.hp) {
    const Term x = *scan;
    if (x.is_immed()) {
      ++scan;
    } else if (x.is_header()) {
      scan += opaque_words(scan);
    } else {
      const Word address = reinterpret_cast<Word>(x.ptr());
      const bool stays =
          address - target < reinterpret_cast<Word>(copier.hp) - target || shared.contains(x.ptr());
      if (!stays) *scan = copy(x);
      if (++scan == copier.plain_begin) scan = copier.plain_end;
    }
  }
  hp = copier.hp;
  off_heap = copier.off_heap;
  return root;
}

}  // namespace

// Instantiated twice, so that the path of a message has no test for literals that are copied.
[[gnu::no_stack_protector]] Term copy_term(Term t, Term*& hp, OffHeapObject*& off_heap) {
  return copy_with(SharedLiterals(), t, hp, off_heap);
}
[[gnu::no_stack_protector]] Term copy_term(Term t, Term*& hp, OffHeapObject*& off_heap, Literals literals) {
  return literals == Literals::kShared ? copy_term(t, hp, off_heap)
                                       : copy_with(SharedLiterals(literals), t, hp, off_heap);
}

[[gnu::no_stack_protector]] Term copy_to(Heap& heap, Term t, Literals literals) {
  const Word words = copy_size_words(t, literals);
  if (words == 0) return t;
  Term* hp = heap.alloc(words);
  OffHeapObject* off_heap = nullptr;
  const Term copy = copy_term(t, hp, off_heap, literals);
  heap.off_heap_words += splice_off_heap(off_heap, heap.off_heap);
  return copy;
}

Word announce_copy(Term t) {
  if (!probe::copy_struct_in_full()) return probe::count_copy_struct(), 0;
  const Word words = size_words(t);
  probe::fire_copy_struct(words);
  return words;
}

Term copy_to_fragment(Term t, Fragment** fragment) {
  *fragment = nullptr;
  if (t.is_immed()) return t;
  if (probe::copy_struct_enabled()) [[unlikely]]
    announce_copy(t);
  const Word words = copy_size_words(t);
  if (words == 0) return t;
  Fragment* f = Fragment::create(words);
  if (!f) out_of_memory("a message", words * sizeof(Term));
  Term* hp = f->words;
  const Term copy = copy_term(t, hp, f->off_heap);
  f->used_words = static_cast<std::uint32_t>(words);
  *fragment = f;
  return copy;
}

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#include "vm/heap/collector.hpp"

#include <algorithm>
#include <cstring>

#include "vm/base/allocate.hpp"
#include "vm/base/memory_count.hpp"
#include "vm/heap/literal.hpp"
#include "vm/heap/off_heap.hpp"

namespace vmrun {
namespace {

using Sub = Term::Sub;

/// A range of addresses; one compare tells whether a pointer is in it.
struct Range {
  Word base = 0, bytes = 0;
  Range() = default;
  Range(const Term* from, const Term* to)
      : base(reinterpret_cast<Word>(from)), bytes(reinterpret_cast<Word>(to) - base) {}
  bool contains(const Term* p) const { return reinterpret_cast<Word>(p) - base < bytes; }
};

/// The target of moved objects: filled up to `top`, scanned up to `scan`.
struct Target {
  Term* top = nullptr;
  Term* scan = nullptr;
};

enum class Kind { kMinor, kMinorWithFragments, kFull, kFullWithLiterals, kYoungOnly };

}  // namespace

/// Blocks of literals from which a collection copies what the heap refers to. Moving an object
/// writes into it, but nothing may write into literals. So each marked block has a private copy,
/// whose objects are moved and whose pointers still lead into the block itself.
class LiteralSources {
 public:
  LiteralSources(const LiteralBlocks& blocks, const std::vector<bool>& marks)
      : blocks_(blocks), copies_(marks.size()) {
    for (std::size_t i = 0; i < marks.size(); ++i) {
      if (!marks[i]) continue;
      const LiteralBlock& b = *blocks_.all()[i];
      copies_[i] = static_cast<Term*>(allocate_bytes(b.words * sizeof(Term), "literals"));
      std::memcpy(static_cast<void*>(copies_[i]), b.start, b.words * sizeof(Term));
    }
  }
  ~LiteralSources() {
    for (Term* copy : copies_) free_bytes(copy);
  }
  LiteralSources(const LiteralSources&) = delete;

  /// Returns the address in the private copy for a literal in one of the blocks; other addresses
  /// are returned unchanged.
  Term* of(Term* literal) const {
    const int i = blocks_.find(literal);
    if (i < 0) return literal;
    const auto n = static_cast<std::size_t>(i);
    assert(copies_[n]);  // else it is not marked
    return copies_[n] + (literal - blocks_.all()[n]->start);
  }
  /// Enters the handles that were moved into the heap's list.
  void take_handles(Heap& heap) {
    for (std::size_t i = 0; i < copies_.size(); ++i) {
      if (!copies_[i]) continue;
      const LiteralBlock& b = *blocks_.all()[i];
      for (const OffHeapObject* o = b.off_heap; o; o = o->next) {
        const Term header = copies_[i][&o->header - b.start];
        if (header.is_header()) continue;
        auto* moved = reinterpret_cast<OffHeapObject*>(header.ptr());
        retain_off_heap(moved);
        heap.link_off_heap(moved, off_heap_overhead(moved));
      }
    }
  }

 private:
  const LiteralBlocks& blocks_;
  std::vector<Term*> copies_;  // by number of the block; nullptr: nothing refers to it
};

namespace {

/// The copying loop. It is instantiated once per kind of collection, so that the test "does this
/// object move, and where to" is as short as possible.
template <Kind kKind>
struct Engine {
  static constexpr bool kIsFull = kKind == Kind::kFull || kKind == Kind::kFullWithLiterals;
  static constexpr bool kTwoTargets = kKind == Kind::kMinor || kKind == Kind::kMinorWithFragments;

  Range block;   // young objects
  Range mature;  // the part of them that is promoted (minor)
  Range old;     // the old generation, with what has been promoted
  Range to;      // the target of the other objects
  Range literals;
  LiteralSources* sources = nullptr;  // kFullWithLiterals
  Target young, promoted;

  /// Returns the address an object is moved from. For a literal in a marked block this is its place
  /// in the private copy.
  [[gnu::always_inline]] Term* source_of(Term* p) const {
    if constexpr (kKind == Kind::kFullWithLiterals) return literals.contains(p) ? sources->of(p) : p;
    return p;
  }

  /// Returns nullptr for an object that stays where it is.
  [[gnu::always_inline]] Target* target_of(const Term* p) {
    if constexpr (kIsFull) {
      return literals.contains(p) || to.contains(p) ? nullptr : &young;
    } else if constexpr (kKind == Kind::kYoungOnly) {
      return block.contains(p) ? &young : nullptr;
    } else {
      if (block.contains(p)) return mature.contains(p) ? &promoted : &young;
      if constexpr (kKind == Kind::kMinor) return nullptr;
      // Everything outside the known areas lies in a fragment.
      return to.contains(p) || old.contains(p) || literals.contains(p) ? nullptr : &young;
    }
  }

  [[gnu::always_inline]] Term move_boxed(Term* from, Target& target) {
    const Term header = *from;
    if (!header.is_header()) return header;  // moved already: the pointer to the copy
    Term* const to_object = target.top;
    Word words = object_words(header);
    const Term forward = Term::boxed(to_object);
    to_object[0] = header;
    *from = forward;
    target.top = to_object + words;
    for (Word i = 1; i < words; ++i) to_object[i] = from[i];
    return forward;
  }

  [[gnu::always_inline]] Term move_list(Term* cell, Target& target) {
    if (!cell[0]) return cell[1];
    Term* top = target.top;
    const Term result = Term::list(top);
    for (;;) {
      const Term tail = cell[1];
      top[0] = cell[0];
      cell[0] = kNonValue;
      cell[1] = Term::list(top);
      top += 2;
      if (tail.is_list()) {
        Term* const next = tail.ptr();
        if (target_of(next) == &target) {
          if (next[0]) {
            top[-1] = Term::list(top);
            cell = next;
            continue;
          }
          top[-1] = next[1];
          break;
        }
      }
      top[-1] = tail;  // not a list, or one that the scan moves
      break;
    }
    target.top = top;
    return result;
  }

  [[gnu::always_inline]] void update(Term* root) {
    const Term t = *root;
    if (t.is_boxed()) {
      Term* const from = source_of(t.ptr());
      if (Target* target = target_of(from)) *root = move_boxed(from, *target);
    } else if (t.is_list()) {
      Term* const from = source_of(t.ptr());
      if (Target* target = target_of(from)) *root = move_list(from, *target);
    }
  }

  /// Updates roots. Words that look like headers are return addresses.
  [[gnu::no_stack_protector]] void update_span(Term* terms, std::size_t count) {
    if (count < 8) {  // not worth the copies
      for (Term* end = terms + count; terms < end; ++terms) update(terms);
      return;
    }
    Engine local = *this;  // keeps the targets in registers
    for (Term* end = terms + count; terms < end; ++terms) local.update(terms);
    *this = local;
  }

  /// Handles objects whose terms are not all contiguous.
  Term* scan_odd(Term* p) {
    const Term header = *p;
    switch (header.header_sub()) {
      case Sub::kMap: return p + (map_kind(header) == MapKind::kHashNode ? 1 : 2);
      case Sub::kRecord: return p + 1;
      case Sub::kFun: return p + 3;  // creator, a zero, environment follow
      case Sub::kSubBinary: update(&reinterpret_cast<SubBinary*>(p)->original); return p + 5;
      case Sub::kMatchContext: {
        auto* context = reinterpret_cast<MatchContext*>(p);
        const Term* before = context->original.ptr();
        update(&context->original);
        if (context->original.ptr() != before && context->original.ptr()->header_sub() == Sub::kHeapBinary) {
          context->base = reinterpret_cast<HeapBinary*>(context->original.ptr())->data;
        }
        return p + 5;
      }
      default: return p + object_words(header);
    }
  }

  [[gnu::always_inline]] void scan(Target& target) {
    Term* p = target.scan;
    while (p < target.top) {
      const Term t = *p;
      if (t.is_boxed()) {
        Term* const from = source_of(t.ptr());
        if (Target* next = target_of(from)) *p = move_boxed(from, *next);
        ++p;
      } else if (t.is_list()) {
        Term* const from = source_of(t.ptr());
        if (Target* next = target_of(from)) *p = move_list(from, *next);
        ++p;
      } else if (!t.is_header() || t.header_sub() == Sub::kTuple) {
        ++p;
      } else {
        p = scan_odd(p);
      }
    }
    target.scan = p;
  }

  void scan_all() {
    Engine local = *this;
    do {
      if constexpr (kTwoTargets) local.scan(local.promoted);
      local.scan(local.young);
    } while (kTwoTargets && local.promoted.scan < local.promoted.top);
    *this = local;
  }
};

void trim_writable(RefcBinary* r) {
  // The spare room is kept as long as something was appended since the last full sweep.
  if (r->flags & RefcBinary::kActiveWriter) {
    r->flags &= ~RefcBinary::kActiveWriter;
    return;
  }
  const Word used = std::max<Word>(r->size_bytes, 1);
  if (r->binary->capacity_bytes <= used + used / 4 ||
      r->binary->references.load(std::memory_order_acquire) != 1)
    return;
  if (Binary* trimmed = Binary::resize(r->binary, used)) {
    r->bytes = trimmed->data;
    r->binary = trimmed;
  }
}

/// Goes through a list of handles as they lay before the collection. Enters those that were moved
/// into the list of their present area, and drops the references of the others.
void sweep(Heap& heap, OffHeapObject* list, const Range& old, bool full) {
  while (list) {
    OffHeapObject* const next = list->next;
    if (list->header.is_header()) {
      release_off_heap(list);
    } else {
      auto* moved = reinterpret_cast<OffHeapObject*>(list->header.ptr());
      if (full && moved->header.header_sub() == Sub::kRefcBinary) {
        auto* r = reinterpret_cast<RefcBinary*>(moved);
        if (r->flags & RefcBinary::kWritable) trim_writable(r);
      }
      const bool is_old = old.contains(&moved->header);
      OffHeapObject*& home = is_old ? heap.old_off_heap : heap.off_heap;
      moved->next = home;
      home = moved;
      (is_old ? heap.old_off_heap_words : heap.off_heap_words) += off_heap_overhead(moved);
    }
    list = next;
  }
}

}  // namespace

/// How a kind of collection uses the areas.
struct Collector::Areas {
  Range mature;               // promoted part of the block
  Term* old_start = nullptr;  // old generation to promote into, or to fill: from old_top
  Term* old_end = nullptr;
  Term* old_top = nullptr;
  bool into_old = false;  // everything moves there
  bool full = false;      // the former old generation is emptied
};

template <class Engine>
void Collector::run(const Areas& areas, Word block_words, LiteralSources* sources) {
  Heap& h = heap_;
  Term* const start = allocate_block(block_words);
  Term* const end = start + block_words;
  const Word stack_words = h.stack_words();
  assert(block_words >= stack_words);
  Term* const stop = end - stack_words;
  if (stack_words) std::memcpy(static_cast<void*>(stop), h.stop, stack_words * sizeof(Term));

  Engine engine;
  engine.block = Range(h.start, h.top);
  engine.mature = areas.mature;
  engine.old = Range(areas.old_start, areas.old_end);
  engine.literals.base = literal_base;
  engine.literals.bytes = literal_bytes;
  engine.sources = sources;
  engine.young.top = engine.young.scan = areas.into_old ? areas.old_top : start;
  engine.promoted.top = engine.promoted.scan = areas.old_top;
  engine.to = areas.into_old ? Range(areas.old_start, areas.old_end) : Range(start, end);

  if (stack_words) engine.update_span(stop, stack_words);
  engine.update_span(regs_, live_);
  if (list_roots_) {
    list_roots_(
        owner_,
        [](void* context, Term* terms, std::size_t count) {
          static_cast<Engine*>(context)->update_span(terms, count);
        },
        &engine);
  }
  engine.scan_all();

  Term* const young_top = areas.into_old ? start : engine.young.top;
  Term* const old_top = areas.into_old ? engine.young.top : engine.promoted.top;
  moved_words_ +=
      stack_words + static_cast<Word>(young_top - start) + static_cast<Word>(old_top - areas.old_top);
  assert(young_top <= stop && (!areas.old_start || old_top <= areas.old_end));

  // The handles still lie in the former areas, which are therefore freed last.
  OffHeapObject* const handles = h.off_heap;
  OffHeapObject* const old_handles = h.old_off_heap;
  h.off_heap = nullptr;
  h.off_heap_words = 0;
  if (areas.full) {
    h.old_off_heap = nullptr;
    h.old_off_heap_words = 0;
  }
  const Range old(areas.old_start, areas.old_end);
  sweep(h, handles, old, areas.full);
  if (areas.full) sweep(h, old_handles, old, true);

  free_block(h.start, h.end, poison);
  if (areas.full) free_block(h.old_start, h.old_end, poison);
  std::size_t fragments_bytes = 0;
  while (Fragment* f = h.fragments) {
    h.fragments = f->next;
    if (Engine::kIsFull && f->is_former_block()) [[unlikely]]
      free_former_block(*f, poison);
    else if (poison) std::memset(static_cast<void*>(f->words), 0x5A, f->used_words * sizeof(Term));
    fragments_bytes += fragment_bytes(f->capacity_words);
    free_bytes(f);
  }
  count_memory_given(MemoryKind::kHeaps, fragments_bytes);
  h.fragment_words = 0;

  h.start = start;
  h.end = end;
  h.top = h.high_water = young_top;
  h.stop = stop;
  h.old_start = areas.old_start;
  h.old_end = areas.old_end;
  h.old_top = old_top;
}

void Collector::minor(Word block_words) {
  Areas areas;
  areas.mature = Range(heap_.start, heap_.high_water);
  areas.old_start = heap_.old_start;
  areas.old_end = heap_.old_end;
  areas.old_top = heap_.old_top;
  if (heap_.fragments) {
    run<Engine<Kind::kMinorWithFragments>>(areas, block_words);
  } else {
    run<Engine<Kind::kMinor>>(areas, block_words);
  }
}

void Collector::full_into_block(Word block_words) {
  Areas areas;
  areas.full = true;
  run<Engine<Kind::kFull>>(areas, block_words);
}

void Collector::full_with_literals(Word block_words, const LiteralBlocks& blocks,
                                   const std::vector<bool>& marks) {
  LiteralSources sources(blocks, marks);
  Areas areas;
  areas.full = true;
  run<Engine<Kind::kFullWithLiterals>>(areas, block_words, &sources);
  sources.take_handles(heap_);
}

void Collector::full_into_old(Word old_words, Word block_words) {
  Areas areas;
  areas.old_start = areas.old_top = allocate_block(old_words);
  areas.old_end = areas.old_start + old_words;
  areas.into_old = areas.full = true;
  run<Engine<Kind::kFull>>(areas, block_words);
}

void Collector::resize(Word block_words) {
  assert(!heap_.fragments);
  Areas areas;
  areas.old_start = heap_.old_start;
  areas.old_end = heap_.old_end;
  areas.old_top = heap_.old_top;
  run<Engine<Kind::kYoungOnly>>(areas, block_words);
}

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#include "vm/heap/verify.hpp"

#include <cstdio>
#include <cstdlib>
#include <unordered_set>
#include <vector>

#include "vm/heap/literal.hpp"
#include "vm/term/bits.hpp"
#include "vm/term/native_record.hpp"
#include "vm/term/pid_numbers.hpp"

// The heap's invariants, checked by a walk over all that is reachable:
// - A pointer leads into the block below top, into the old generation below its top, into the used
//   words of a fragment, or into the literal area.
// - A boxed pointer leads to a header of a known kind, and the whole object lies in that area. A
//   list pointer leads to two terms.
// - No forwarding is left: no header word is a pointer, and no cons cell has the non-value as its
//   head.
// - Nothing in the old generation points to the block or to a fragment.
// - Every reachable handle of an off-heap binary is in the list of the generation it lies in, and
//   that binary is alive.

namespace vmrun {
namespace {

struct Area {
  const Term* from;
  const Term* to;
  const char* name;
  bool contains(const Term* p) const { return p >= from && p < to; }
};

class Verifier {
 public:
  Verifier(const Heap& h, Term owner) : owner_(owner) {
    if (h.top < h.start || h.stop < h.top || h.end < h.stop || h.high_water < h.start ||
        h.high_water > h.top) {
      fail("the block's pointers are out of order", h.top);
    }
    areas_.push_back({h.start, h.top, "block"});
    areas_.push_back({h.old_start, h.old_top, "old generation"});
    for (const Fragment* f = h.fragments; f; f = f->next)
      areas_.push_back({f->terms(), f->terms_end(), "fragment"});
    for (const OffHeapObject* o = h.off_heap; o; o = o->next) young_handles_.insert(&o->header);
    for (const OffHeapObject* o = h.old_off_heap; o; o = o->next) old_handles_.insert(&o->header);
  }

  void roots(const Term* terms, std::size_t count, const char* what) {
    what_ = what;
    for (std::size_t i = 0; i < count; ++i) check(terms[i], &terms[i]);
    drain();
  }

 private:
  [[noreturn]] void fail(const char* why, const Term* where) {
    std::fprintf(
        stderr, "vmrun: heap of <0.%llu.%llu> is damaged: %s, at %p (word %016llx), reached from %s\n",
        static_cast<unsigned long long>(pid_number(owner_.id_number())),
        static_cast<unsigned long long>(pid_serial(owner_.id_number())), why, static_cast<const void*>(where),
        static_cast<unsigned long long>(where ? where->raw() : 0), what_);
    for (const Area& a : areas_) {
      std::fprintf(stderr, "  %-14s %p to %p\n", a.name, static_cast<const void*>(a.from),
                   static_cast<const void*>(a.to));
    }
    std::abort();
  }

  void check(Term t, const Term* where) {
    if (t.is_immed() || t.is_header())
      return;  // return addresses and non-values have header tags; fields never get here with one
    const Term* p = t.ptr();
    if (is_literal(p)) return;
    if (!seen_.insert(t.raw()).second) return;
    const Area* area = nullptr;
    for (const Area& a : areas_) {
      if (a.contains(p)) area = &a;
    }
    if (!area) fail("a pointer leads nowhere", where);
    const bool from_old = areas_[1].contains(where);
    if (from_old && area != &areas_[1]) fail("the old generation points to a younger term", where);
    if (t.is_list() ? p + 2 > area->to : p + object_words(*p) > area->to)
      fail("an object reaches beyond its area", p);
    work_.push_back(t);
  }

  void field(const Term* f) {
    if (f->is_header()) fail("a field holds no term", f);
    check(*f, f);
  }
  void fields(const Term* from, const Term* to) {
    for (; from < to; ++from) field(from);
  }

  void drain() {
    while (!work_.empty()) {
      const Term t = work_.back();
      work_.pop_back();
      if (t.is_list()) {
        fields(t.list_ptr(), t.list_ptr() + 2);
      } else {
        object(t.boxed_ptr());
      }
    }
  }

  void object(const Term* p) {
    const Term header = *p;
    if (!header.is_header()) fail("no header where a boxed pointer leads", p);
    const Term* end = p + object_words(header);
    switch (header.header_sub()) {
      case Term::Sub::kTuple: return fields(p + 1, end);
      case Term::Sub::kRecord:
        if (!is_record_object(p)) fail("a record without a definition", p);
        return fields(p + 1, end);
      case Term::Sub::kMap: return fields(p + (map_kind(header) == MapKind::kHashNode ? 1 : 2), end);
      case Term::Sub::kFun: {
        const auto* f = reinterpret_cast<const FunObject*>(p);
        if (f->reserved != 0 || f->free_count != end - f->environment()) fail("a fun of the wrong size", p);
        field(&f->creator);
        return fields(f->environment(), end);
      }
      case Term::Sub::kSubBinary: {
        const auto* s = reinterpret_cast<const SubBinary*>(p);
        if (!s->original.is_bitstring() || original_of(s->original) != s->original)
          fail("a sub-binary of no binary", p);
        return field(&s->original);
      }
      case Term::Sub::kMatchContext: {
        const auto* m = reinterpret_cast<const MatchContext*>(p);
        if (!m->original.is_bitstring() || original_of(m->original) != m->original)
          fail("a match context on no binary", p);
        const Term* original = m->original.boxed_ptr();
        const std::uint8_t* base = original->header_sub() == Term::Sub::kRefcBinary
                                       ? reinterpret_cast<const RefcBinary*>(original)->bytes
                                       : reinterpret_cast<const HeapBinary*>(original)->data;
        if (m->base != base || m->offset_bits > m->size_bits) fail("a match context out of its binary", p);
        return field(&m->original);
      }
      case Term::Sub::kRefcBinary: {
        const bool is_old = areas_[1].contains(p);
        if (!(is_old ? old_handles_ : young_handles_).count(p))
          fail("a binary's handle is not in its generation's list", p);
        const auto* r = reinterpret_cast<const RefcBinary*>(p);
        if (r->binary->references.load(std::memory_order_relaxed) == 0) fail("a binary that was released", p);
        return;
      }
      case Term::Sub::kMagicRef:
        if (!(areas_[1].contains(p) ? old_handles_ : young_handles_).count(p))
          fail("a resource's handle is not in its generation's list", p);
        return;
      default: return;
    }
  }

  Term owner_;
  const char* what_ = "the block";
  std::vector<Area> areas_;
  std::vector<Term> work_;
  std::unordered_set<Word> seen_;
  std::unordered_set<const Term*> young_handles_, old_handles_;
};

}  // namespace

void verify_heap(const Heap& heap, Term owner, const Term* regs, unsigned live,
                 Collector::ListRoots list_roots, void* roots_of) {
  Verifier verifier(heap, owner);
  verifier.roots(regs, live, "a register");
  verifier.roots(heap.stop, heap.stack_words(), "the stack");
  list_roots(
      roots_of,
      [](void* v, Term* terms, std::size_t count) {
        static_cast<Verifier*>(v)->roots(terms, count, "the process");
      },
      &verifier);
}

}  // namespace vmrun

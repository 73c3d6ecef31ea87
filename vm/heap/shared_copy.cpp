// SPDX-License-Identifier: Apache-2.0
#include "vm/heap/shared_copy.hpp"

#include <algorithm>

#include "vm/heap/literal.hpp"
#include "vm/heap/off_heap.hpp"
#include "vm/term/bits.hpp"
#include "vm/term/layout.hpp"
#include "vm/term/map.hpp"

namespace vmrun {
namespace {

using Sub = Term::Sub;

/// The terms that an object holds. A cell has no header and holds two.
struct Fields {
  Term *begin, *end;
};
Fields fields_of(Term* object, bool is_cell) {
  if (is_cell) return {object, object + 2};
  Term* const end = object + object_words(*object);
  switch (object->header_sub()) {
    case Sub::kTuple:
    case Sub::kRecord: return {object + 1, end};
    case Sub::kMap: return {object + (map_kind(*object) == MapKind::kHashNode ? 1 : 2), end};
    case Sub::kFun: {
      auto* f = reinterpret_cast<FunObject*>(object);
      return {&f->creator, end};  // then a word that is not a pointer, and the environment
    }
    case Sub::kSubBinary: {
      auto* s = reinterpret_cast<SubBinary*>(object);
      return {&s->original, &s->original + 1};
    }
    case Sub::kMatchContext: {
      auto* m = reinterpret_cast<MatchContext*>(object);
      return {&m->original, &m->original + 1};
    }
    default: return {nullptr, nullptr};
  }
}

/// Corrects what a plain copy of the words gets wrong.
template <class Enter>
void complete(Term* copy, Enter& enter) {
  switch (copy->header_sub()) {
    case Sub::kRefcBinary: reinterpret_cast<RefcBinary*>(copy)->flags = 0; [[fallthrough]];
    case Sub::kMagicRef:
    case Sub::kExternalPid:
    case Sub::kExternalPort:
    case Sub::kExternalRef: {
      auto* outside = reinterpret_cast<OffHeapObject*>(copy);
      retain_off_heap(outside);
      enter(outside);
      break;
    }
    case Sub::kSubBinary: reinterpret_cast<SubBinary*>(copy)->is_writable = 0; break;
    case Sub::kMatchContext: {
      static_assert(sizeof(SubBinary) == sizeof(MatchContext));
      const SubBinary rest = rest_of(*reinterpret_cast<MatchContext*>(copy));
      *reinterpret_cast<SubBinary*>(copy) = rest;
      break;
    }
    default: break;
  }
}

}  // namespace

Word SharedObjects::Entry::words() const { return is_cell ? 2 : object_words(*object); }

void SharedObjects::meet(Term t) {
  if (!(t.is_list() || t.is_boxed()) || (!with_literals_ && is_literal(t.ptr()))) return;
  if (t == empty_tuple()) return;  // never copied
  const auto [place, is_new] = numbers_.try_emplace(t.ptr(), entries_.size());
  if (!is_new) return;
  entries_.push_back({const_cast<Term*>(t.ptr()), t.is_list()});
  work_.push(place->second);
}

bool SharedObjects::find(Term t, Word most) {
  meet(t);
  while (!work_.empty()) {
    const std::size_t at = work_.pop();
    const Entry entry = entries_[at];
    words_ += entry.words();
    if (words_ > most) return false;
    const auto [begin, end] = fields_of(entry.object, entry.is_cell);
    for (const Term* field = begin; field < end; ++field) meet(*field);
  }
  return true;
}

template <class Enter>
void SharedObjects::copy_all(Term* hp, Enter enter) {
  for (Entry& e : entries_) {
    const Word words = e.words();
    e.copy = hp;
    std::copy_n(e.object, words, hp);
    hp += words;
    if (!e.is_cell) complete(e.copy, enter);
  }
  for (const Entry& e : entries_) {
    const auto [begin, end] = fields_of(e.copy, e.is_cell);
    for (Term* field = begin; field < end; ++field) *field = in_copy(*field);
  }
}

void SharedObjects::copy(Term* hp, OffHeapObject*& off_heap) {
  copy_all(hp, [&off_heap](OffHeapObject* o) {
    o->next = off_heap;
    off_heap = o;
  });
}
void SharedObjects::copy(Heap& heap) {
  copy_all(heap.alloc(words_), [&heap](OffHeapObject* o) { heap.link_off_heap(o, off_heap_overhead(o)); });
}

Term SharedObjects::in_copy(Term t) const {
  if (!(t.is_list() || t.is_boxed())) return t;
  const auto found = numbers_.find(t.ptr());
  if (found == numbers_.end()) return t;  // a literal
  Term* copy = entries_[found->second].copy;
  return t.is_list() ? Term::list(copy) : Term::boxed(copy);
}

}  // namespace vmrun

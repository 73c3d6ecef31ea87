#pragma once

#include "vm/term/layout.hpp"
#include "vm/term/node.hpp"

/// What hangs outside a heap and must be let go with it: binaries behind RefcBinary handles,
/// resources behind magic references, nodes behind identifiers of theirs. Handles are chained
/// through OffHeapObject::next; each list belongs to the owner of the heap the handles lie in.
namespace vmrun {

/// The process that the calling thread works for, as probes show it; the non-value when it works
/// for none. Filled in by vm/process before main begins.
using CurrentProcessId = Term (*)();
extern constinit CurrentProcessId current_process_id;

/// Fires binary-receive for each binary of a list of handles that joins the heap of a process.
[[gnu::cold]] void fire_received(Term pid, const OffHeapObject* list);

/// Words that an off-heap object keeps alive outside the heap; what the virtual heap counts.
inline Word off_heap_overhead(const OffHeapObject* object) {
  switch (object->header.header_sub()) {
    case Term::Sub::kRefcBinary: return words_for_bytes(object->first);
    case Term::Sub::kMagicRef:
      return words_for_bytes(reinterpret_cast<const MagicRefObject*>(object)->resource->used_bytes);
    default: return 0;
  }
}

/// Drops the reference of one handle that is going away. Thread-safe as far as the thing outside is
/// concerned.
inline void release_off_heap(OffHeapObject* object) {
  const Term::Sub sub = object->header.header_sub();
  if (sub == Term::Sub::kRefcBinary) reinterpret_cast<RefcBinary*>(object)->binary->release();
  else if (sub == Term::Sub::kMagicRef) reinterpret_cast<MagicRefObject*>(object)->resource->release();
  else reinterpret_cast<ExternalObject*>(object)->node->release();
}

/// One reference more, for a handle that has been copied.
inline void retain_off_heap(OffHeapObject* object) {
  const Term::Sub sub = object->header.header_sub();
  if (sub == Term::Sub::kRefcBinary) reinterpret_cast<RefcBinary*>(object)->binary->retain();
  else if (sub == Term::Sub::kMagicRef) reinterpret_cast<MagicRefObject*>(object)->resource->retain();
  else reinterpret_cast<ExternalObject*>(object)->node->retain();
}

/// Drops all of a list.
inline void release_off_heap_list(OffHeapObject* list) {
  while (list) {
    OffHeapObject* next = list->next;
    release_off_heap(list);
    list = next;
  }
}

/// Puts `list` in front of `target`; returns the words that hang outside it.
inline Word splice_off_heap(OffHeapObject* list, OffHeapObject*& target) {
  if (!list) return 0;
  Word words = 0;
  OffHeapObject* last = list;
  for (;; last = last->next) {
    words += off_heap_overhead(last);
    if (!last->next) break;
  }
  last->next = target;
  target = list;
  return words;
}

}  // namespace vmrun

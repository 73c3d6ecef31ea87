// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/term/layout.hpp"
#include "vm/term/node.hpp"

/// What a heap refers to outside of itself and must release when it goes: binaries behind
/// RefcBinary handles, resources behind magic references, nodes behind their identifiers. Handles
/// are linked through OffHeapObject::next. Each list belongs to the owner of the heap that holds
/// the handles.
namespace vmrun {

// binary-alloc, binary-resize (which may have moved the binary) and binary-release.
[[gnu::cold]] void fire_allocated(const Binary& b);
[[gnu::cold]] void fire_resized(const Binary& b, Word old_id, Word old_bytes);
[[gnu::cold]] void fire_released(const Binary& b);
/// Fires binary-receive for each binary in a list of handles that joins the heap of a process.
[[gnu::cold]] void fire_received(Term pid, const OffHeapObject* list);

/// Returns the words that an off-heap object keeps alive outside the heap, as the virtual heap
/// counts them.
inline Word off_heap_overhead(const OffHeapObject* object) {
  switch (object->header.header_sub()) {
    case Term::Sub::kRefcBinary: return words_for_bytes(object->first);
    case Term::Sub::kMagicRef:
      return words_for_bytes(reinterpret_cast<const MagicRefObject*>(object)->resource->used_bytes);
    default: return 0;
  }
}

/// Drops the reference of one handle that is going away. The thing outside may be shared with other
/// threads.
inline void release_off_heap(OffHeapObject* object) {
  const Term::Sub sub = object->header.header_sub();
  if (sub == Term::Sub::kRefcBinary) reinterpret_cast<RefcBinary*>(object)->binary->release();
  else if (sub == Term::Sub::kMagicRef) reinterpret_cast<MagicRefObject*>(object)->resource->release();
  else reinterpret_cast<ExternalObject*>(object)->node->release();
}

/// Adds a reference for a handle that has been copied.
inline void retain_off_heap(OffHeapObject* object) {
  const Term::Sub sub = object->header.header_sub();
  if (sub == Term::Sub::kRefcBinary) reinterpret_cast<RefcBinary*>(object)->binary->retain();
  else if (sub == Term::Sub::kMagicRef) reinterpret_cast<MagicRefObject*>(object)->resource->retain();
  else reinterpret_cast<ExternalObject*>(object)->node->retain();
}

/// Drops the references of a whole list.
inline void release_off_heap_list(OffHeapObject* list) {
  while (list) {
    OffHeapObject* next = list->next;
    release_off_heap(list);
    list = next;
  }
}

/// Puts `list` in front of `target`. Returns the words outside the heap that `list` keeps alive.
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

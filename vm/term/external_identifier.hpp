// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/term/layout.hpp"
#include "vm/term/node.hpp"
#include "vm/term/term_space.hpp"

namespace vmrun {

/// Makes an identifier of another node: kExternalPid and kExternalPort have one word, and
/// kExternalRef has two, or three when it has more than three numbers (ExternalObject). Takes over
/// the caller's reference to the node.
inline Term external_identifier(TermSpace& space, Term::Sub sub, Node* node, const Word* data, Word words) {
  auto* o = reinterpret_cast<ExternalObject*>(space.alloc(3 + words));
  o->header = Term::header(sub, 2 + words);
  o->node = node;
  for (Word i = 0; i < words; ++i) o->data[i] = data[i];
  space.link_off_heap(reinterpret_cast<OffHeapObject*>(o), 0);
  return Term::boxed(&o->header);
}

}  // namespace vmrun

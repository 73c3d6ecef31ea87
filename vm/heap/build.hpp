// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "vm/heap/heap.hpp"
#include "vm/term/atom.hpp"

/// Lists and tuples, built in a heap. The functions never collect.
namespace vmrun {

inline constexpr Term bool_term(bool b) { return b ? atoms::true_ : atoms::false_; }

/// Returns the length of a proper list, -1 for anything else.
inline SWord list_length(Term list) {
  SWord n = 0;
  for (; list.is_list(); list = list.tail()) ++n;
  return list.is_nil() ? n : -1;
}

/// Builds a list front to back.
class ListBuilder {
 public:
  explicit ListBuilder(Heap& heap) : heap_(heap) {}
  void add(Term element) {
    Term* hp = heap_.alloc(2);
    *link_ = make_cons(hp, element, Term::nil());
    link_ = hp - 1;
  }
  /// Returns the list, which ends with `tail`. Nothing is added afterwards.
  Term finish(Term tail = Term::nil()) {
    *link_ = tail;
    return first_;
  }

 private:
  Heap& heap_;
  Term first_ = Term::nil();
  Term* link_ = &first_;
};

inline Term new_list(Heap& heap, std::span<const Term> elements) {
  ListBuilder list(heap);
  for (const Term element : elements) list.add(element);
  return list.finish();
}

template <class... T>
Term new_tuple(Heap& heap, T... elements) {
  Term* hp = heap.alloc(sizeof...(T) + 1);
  return make_tuple(hp, elements...);
}

}  // namespace vmrun

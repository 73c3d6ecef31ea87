// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unordered_set>
#include <vector>

#include "vm/term/layout.hpp"
#include "vm/term/map.hpp"

/// Walks terms and all that they lead to, and calls visit(const Term* object) once for each boxed
/// object. The terms must not change meanwhile. Used by one thread.
namespace vmrun::dump {

template <class Visit>
class TermWalk {
 public:
  explicit TermWalk(Visit visit) : visit_(visit) {}

  void add(Term t) {
    note(t);
    while (!to_do_.empty()) {
      const Term next = to_do_.back();
      to_do_.pop_back();
      object(next);
    }
  }
  void add(const Term* from, const Term* to) {
    for (; from < to; ++from) add(*from);
  }

 private:
  void note(Term t) {
    if ((t.is_list() || t.is_boxed()) && seen_.insert(t.raw()).second) to_do_.push_back(t);
  }
  void fields(const Term* from, const Term* to) {
    for (; from < to; ++from) note(*from);
  }
  void object(Term t) {
    if (t.is_list()) return fields(t.list_ptr(), t.list_ptr() + 2);
    const Term* p = t.boxed_ptr();
    const Term* end = p + object_words(*p);
    visit_(p);
    switch (p->header_sub()) {
      case Term::Sub::kTuple:
      case Term::Sub::kRecord: return fields(p + 1, end);
      case Term::Sub::kMap: return fields(p + (map_kind(*p) == MapKind::kHashNode ? 1 : 2), end);
      case Term::Sub::kFun: return fields(reinterpret_cast<const FunObject*>(p)->environment(), end);
      default: return;
    }
  }

  Visit visit_;
  std::vector<Term> to_do_;
  std::unordered_set<Word> seen_;
};

}  // namespace vmrun::dump

#pragma once

#include <cassert>
#include <vector>

#include "vm/term/term.hpp"

/// The terms a process holds outside its heap and stack. A collection asks for them with visit_roots and updates them in place; so whoever gives a process a new
/// place that holds terms names it in visit_roots (roots.cpp). Runs in the process's own thread.
namespace vmrun {

struct Process;

/// Spans of terms. A word may be in one span only. Non-values and immediates are fine.
class RootSet {
 public:
  struct Span {
    Term* first;
    Word count;
  };
  void add(Term* first, Word count) {
    if (count) spans_[used_ < kInline ? used_++ : spill()] = {first, count};
  }
  void add(Term& root) { add(&root, 1); }

  template <class F>
  void for_each_span(F&& f) const {
    for (unsigned i = 0; i < used_; ++i) f(spans_[i]);
    for (const Span& s : more_) f(s);
  }

 private:
  static constexpr unsigned kInline = 24;
  /// Slot for one more: the last inline one, whose content moves to the vector.
  unsigned spill() {
    more_.push_back(spans_[kInline - 1]);
    return kInline - 1;
  }
  Span spans_[kInline];
  unsigned used_ = 0;
  std::vector<Span> more_;
};

/// Names every root of p but the stack. Registers live at a test_heap are passed to the collector separately; saved registers of a process that is scheduled out
/// are named here.
void visit_roots(Process& p, RootSet& roots);

}  // namespace vmrun

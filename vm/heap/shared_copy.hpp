// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unordered_map>
#include <vector>

#include "vm/base/work_stack.hpp"
#include "vm/heap/heap.hpp"

/// Copies terms and keeps their sharing: an object that is found twice counts once and is copied
/// once. One thread.
namespace vmrun {

class SharedObjects {
 public:
  /// Literals count, and are copied, only with_literals.
  explicit SharedObjects(bool with_literals) : with_literals_(with_literals) {}

  /// Finds all objects that t leads to. Returns false, and stops, when they have more than `most`
  /// words.
  [[nodiscard]] bool find(Term t, Word most = ~Word{0});
  Word words() const { return words_; }

  /// Copies all that has been found to words() words at hp, and enters objects that refer to
  /// something outside in off_heap. The copy of a writable binary is not writable.
  void copy(Term* hp, OffHeapObject*& off_heap);
  /// As above, into a heap.
  void copy(Heap& heap);
  /// Returns the copy of a term that has been found. Called after copy.
  Term in_copy(Term t) const;

 private:
  struct Entry {
    Term* object;
    bool is_cell;
    Term* copy = nullptr;
    Word words() const;
  };

  void meet(Term t);
  template <class Enter>
  void copy_all(Term* hp, Enter enter);

  const bool with_literals_;
  std::unordered_map<const Term*, std::size_t> numbers_;
  std::vector<Entry> entries_;  // each object once, in an order that does not matter
  WorkStack<std::size_t> work_;
  Word words_ = 0;
};

}  // namespace vmrun

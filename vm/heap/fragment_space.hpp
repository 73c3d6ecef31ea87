#pragma once

#include "vm/heap/heap.hpp"

/// A fragment that is being filled by code that builds terms in a heap: decoders, say. One thread.
namespace vmrun {

class FragmentSpace {
 public:
  /// Room for `words`; ends the VM with a message when memory is exhausted.
  explicit FragmentSpace(Word words);
  ~FragmentSpace();
  FragmentSpace(const FragmentSpace&) = delete;
  FragmentSpace& operator=(const FragmentSpace&) = delete;

  TermSpace& space() { return heap_; }
  /// The fragment, which is the caller's, with `root` as its message and `room` words free at
  /// least. If more was built than there was room for, a copy of another size.
  [[nodiscard]] Fragment* finish(Term root, Word room);

 private:
  Heap heap_;  // its free words are the fragment's
  Fragment* fragment_;
};

}  // namespace vmrun

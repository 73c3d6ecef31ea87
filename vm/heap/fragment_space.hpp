// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/heap/heap.hpp"

/// A fragment that is being filled by code that builds terms in a heap, such as a decoder. One
/// thread.
namespace vmrun {

class FragmentSpace {
 public:
  /// Makes room for `words`. Ends the VM with a message when memory is exhausted.
  explicit FragmentSpace(Word words);
  ~FragmentSpace();
  FragmentSpace(const FragmentSpace&) = delete;
  FragmentSpace& operator=(const FragmentSpace&) = delete;

  TermSpace& space() { return heap_; }
  /// Returns the fragment, which is then the caller's, with `root` as its message and at least
  /// `room` words free. Returns a copy of another size if more was built than there was room for.
  [[nodiscard]] Fragment* finish(Term root, Word room);

 private:
  Heap heap_;  // its free words are the fragment's
  Fragment* fragment_;
};

}  // namespace vmrun

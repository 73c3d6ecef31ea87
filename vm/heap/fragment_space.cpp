// SPDX-License-Identifier: Apache-2.0
#include "vm/heap/fragment_space.hpp"

#include <utility>

#include "vm/heap/copy.hpp"
#include "vm/heap/fragment.hpp"

namespace vmrun {

FragmentSpace::FragmentSpace(Word words) : fragment_(new_fragment(words)) {
  heap_.top = fragment_->words;
  heap_.stop = fragment_->words + fragment_->capacity_words + kStackReserveWords;  // there is no stack
}

FragmentSpace::~FragmentSpace() {
  heap_.release_all();  // the objects it lists lie in the fragment
  if (fragment_) Fragment::destroy(fragment_);
}

Fragment* FragmentSpace::finish(Term root, Word room) {
  fragment_->used_words = static_cast<std::uint32_t>(heap_.top - fragment_->words);
  Fragment* f;
  if (!heap_.fragments && fragment_->capacity_words - fragment_->used_words >= room) [[likely]] {
    f = std::exchange(fragment_, nullptr);
    f->off_heap = std::exchange(heap_.off_heap, nullptr);
  } else {
    f = new_fragment(size_words(root) + room);
    Term* hp = f->words;
    root = copy_term(root, hp, f->off_heap);
    f->used_words = static_cast<std::uint32_t>(hp - f->words);
  }
  f->message = root;
  return f;
}

}  // namespace vmrun

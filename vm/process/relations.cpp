// SPDX-License-Identifier: Apache-2.0
#include "vm/process/relations.hpp"

#include <cstddef>

#include "vm/heap/copy.hpp"

namespace vmrun {

/// The copy is the first object in a fragment of its own, so that the fragment is found from it.
Term copy_identifier(Term identifier) {
  Fragment* f = new_fragment(copy_size_words(identifier, Literals::kCopied));
  Term* hp = f->words;
  return copy_term(identifier, hp, f->off_heap, Literals::kCopied);
}

void free_identifier(Term kept) {
  auto* first = reinterpret_cast<char*>(kept.boxed_ptr());
  Fragment::destroy(reinterpret_cast<Fragment*>(first - offsetof(Fragment, words)));
}

void Links::clear_remote() {
  remote_->for_each([](const KeptIdentifier& other, NoValue) { free_identifier(other.term); });
  remote_.reset();
}

bool Links::insert_remote(Term other) {
  if (!remote_) remote_ = std::make_unique<Remote>();
  if (remote_->find({other})) return false;
  return remote_->insert({copy_identifier(other)}, {});
}

bool Links::erase_remote(Term other) {
  Remote::Entry link;
  if (!remote_ || !remote_->take({other}, &link)) return false;
  free_identifier(link.key.term);
  if (remote_->empty()) remote_.reset();
  return true;
}

Term Links::take_oldest_remote() {
  Remote::Entry link;
  remote_->take_oldest(&link);
  if (remote_->empty()) remote_.reset();
  return link.key.term;
}

}  // namespace vmrun

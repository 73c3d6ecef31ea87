#include "vm/process/relations.hpp"

#include <cstddef>

#include "vm/heap/copy.hpp"

namespace vmrun {

/// The copy is the first thing in a fragment of its own, which is found again from it.
Term copy_identifier(Term identifier) {
  Fragment* f = new_fragment(copy_size_words(identifier, Literals::kCopied));
  Term* hp = f->words;
  return copy_term(identifier, hp, f->off_heap, Literals::kCopied);
}

void free_identifier(Term kept) {
  auto* first = reinterpret_cast<char*>(kept.boxed_ptr());
  Fragment::destroy(reinterpret_cast<Fragment*>(first - offsetof(Fragment, words)));
}

void Links::clear_elsewhere() {
  elsewhere_->for_each([](const KeptIdentifier& other, NoValue) { free_identifier(other.term); });
  elsewhere_.reset();
}

bool Links::insert_elsewhere(Term other) {
  if (!elsewhere_) elsewhere_ = std::make_unique<Elsewhere>();
  if (elsewhere_->find({other})) return false;
  return elsewhere_->insert({copy_identifier(other)}, {});
}

bool Links::erase_elsewhere(Term other) {
  Elsewhere::Entry link;
  if (!elsewhere_ || !elsewhere_->take({other}, &link)) return false;
  free_identifier(link.key.term);
  if (elsewhere_->empty()) elsewhere_.reset();
  return true;
}

Term Links::take_oldest_elsewhere() {
  Elsewhere::Entry link;
  elsewhere_->take_oldest(&link);
  if (elsewhere_->empty()) elsewhere_.reset();
  return link.key.term;
}

}  // namespace vmrun

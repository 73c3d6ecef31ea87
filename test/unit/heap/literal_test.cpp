// SPDX-License-Identifier: Apache-2.0
#include "vm/heap/literal.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "vm/heap/copy.hpp"

// The literal area: blocks are copies of their own, what is freed is used again, and what is
// leaving is copied by code that copies terms to others.

namespace vmrun {
namespace {

Term tuple_of(Heap& heap, Word size) {
  Term* hp = heap.alloc(size + 1);
  hp[0] = Term::header(Term::Sub::kTuple, size);
  for (Word i = 1; i <= size; ++i) hp[i] = Term::small(static_cast<SWord>(i));
  return Term::boxed(hp);
}

LiteralBlock* literal(Term t) {
  LiteralBlock* block;
  REQUIRE(make_literals(&t, 1, &block));
  return block;
}

}  // namespace

TEST_CASE("freed blocks of literals are used again, neighbours as one") {
  Heap heap;
  const Term t = tuple_of(heap, 999);
  const Word used = literal_words_used();
  LiteralBlock *a = literal(t), *b = literal(t), *c = literal(t), *after = literal(t);
  Term* const first = a->start;
  free_literals(a);
  free_literals(c);
  free_literals(b);
  LiteralBlock* whole = literal(tuple_of(heap, 2999));
  CHECK(whole->start == first);
  free_literals(whole);
  LiteralBlock* part = literal(t);
  CHECK(part->start == first);
  free_literals(part);
  free_literals(after);
  CHECK(literal_words_used() <= used + 1);  // the empty tuple comes with the first use
}

TEST_CASE("the literal area has an end") {
  Heap heap;
  Term terms[] = {tuple_of(heap, 1 << 20)};
  std::vector<LiteralBlock*> blocks;
  for (LiteralBlock* block;;) {
    Term t = terms[0];
    if (!make_literals(&t, 1, &block)) break;
    blocks.push_back(block);
  }
  CHECK(blocks.size() == 127);
  for (LiteralBlock* b : blocks) free_literals(b);
  free_literals(literal(terms[0]));
}

TEST_CASE("a block has no pointer into another; immediates need none") {
  Heap heap;
  LiteralBlock* inner = literal(tuple_of(heap, 3));
  Term* hp = heap.alloc(2);
  const Term pair = make_cons(hp, Term::boxed(inner->start), empty_tuple());
  CHECK(copy_size_words(pair) == 2);
  LiteralBlock* outer = literal(pair);
  CHECK(outer->words == 2 + 4);
  CHECK(outer->contains(Term::list(outer->start).head().ptr()));
  Term small = Term::small(1);
  LiteralBlock* none;
  CHECK(make_literals(&small, 1, &none));
  CHECK(none == nullptr);

  set_leaving_literals(inner->start, inner->words);
  CHECK(copy_size_words(pair) == 2);  // the thread has not looked
  look_at_leaving_literals();
  CHECK(copy_size_words(pair) == 2 + 4);
  const Term copy = copy_to(heap, pair);
  CHECK(!is_literal(copy.head().ptr()));
  CHECK(copy.tail() == empty_tuple());
  set_leaving_literals(nullptr, 0);
  look_at_leaving_literals();
  CHECK(copy_size_words(pair) == 2);

  const LiteralBlocks blocks({outer, inner});
  std::vector<bool> marks(2);
  CHECK(blocks.mark_mentioned(&pair, 1, marks) == false);
  CHECK(blocks.mark_mentioned(pair.list_ptr(), 2, marks));
  CHECK(marks[static_cast<std::size_t>(blocks.find(inner->start))]);
  CHECK(!marks[static_cast<std::size_t>(blocks.find(outer->start))]);
  free_literals(outer);
  free_literals(inner);
}

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "test/unit/heap/random_terms.hpp"
#include "vm/heap/copy.hpp"

using namespace vmrun;
using namespace vmrun::test;

namespace {

Word references_of(Term refc) {
  return reinterpret_cast<RefcBinary*>(refc.boxed_ptr())->binary->references.load();
}

Term integers(Heap& heap, SWord count) {
  Term t = Term::nil();
  for (SWord i = count; i > 0; --i) {
    Term* hp = heap.alloc(2);
    t = make_cons(hp, Term::small(i), t);
  }
  return t;
}

}  // namespace

TEST_CASE("Copies of random graphs are equal, of the announced size and independent of their source") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    auto source = std::make_unique<Heap>();
    const Term t = RandomTerms(seed).term(*source, 7);
    const auto expected = flattened(t);
    const Word words = copy_size_words(t);
    REQUIRE(words <= size_words(t));

    Fragment* f = nullptr;
    const Term sent = copy_to_fragment(t, &f);
    REQUIRE((f == nullptr) == (words == 0));
    Heap other;
    const Term copy = copy_to(other, t);
    source.reset();
    REQUIRE(flattened(sent) == expected);
    REQUIRE(flattened(copy) == expected);
    if (f) {
      REQUIRE(f->used_words == words);
      REQUIRE(copy_size_words(sent) <= words);
      other.adopt(f);
    }
    REQUIRE(flattened(sent) == expected);
  }
}

TEST_CASE("Sizes in words are those of the contract") {
  Heap heap;
  Term* hp = heap.alloc(100);
  CHECK(size_words(Term::small(1)) == 0);
  CHECK(size_words(empty_tuple()) == 0);
  CHECK(size_words(make_cons(hp, Term::small(1), Term::nil())) == 2);
  CHECK(size_words(make_tuple(hp, Term::small(1), Term::nil())) == 3);
  CHECK(size_words(make_float(hp, 1.5)) == 2);
  const Term shared = make_tuple(hp, Term::nil());
  CHECK(size_words(make_tuple(hp, shared, shared)) == 3 + 2 + 2);
  const Term literal = make_literal(shared);
  CHECK(size_words(literal) == 2);
  CHECK(copy_size_words(literal) == 0);
  CHECK(copy_size_words(make_cons(hp, literal, literal)) == 2);
  CHECK(copy_to(heap, literal) == literal);
}

TEST_CASE("Long lists and deep nesting need no C++ stack") {
  Heap heap;
  Term deep = Term::nil(), left = Term::nil();
  for (int i = 0; i < 1000000; ++i) {
    Term* hp = heap.alloc(4);
    deep = make_tuple(hp, deep);
    left = make_cons(hp, left, Term::nil());
  }
  CHECK(size_words(deep) == 2000000);
  CHECK(size_words(left) == 2000000);
  Heap other;
  Term copy = copy_to(other, deep);
  int depth = 0;
  for (; copy.is_tuple(); copy = copy.element(0)) ++depth;
  CHECK(depth == 1000000);
  CHECK(size_words(copy_to(other, left)) == 2000000);
  CHECK(size_words(copy_to(other, integers(heap, 1000000))) == 2000000);
}

TEST_CASE("Off-heap binaries are counted by their handles") {
  RandomTerms random(5);
  Heap heap;
  Term binary;
  do binary = random.binary(heap);
  while (!binary.is_boxed_sub(Term::Sub::kRefcBinary));
  CHECK(references_of(binary) == 1);
  {
    Heap other;
    copy_to(other, binary);
    CHECK(other.off_heap_words >= 8);
    Fragment* f;
    copy_to_fragment(binary, &f);
    CHECK(references_of(binary) == 3);
    Fragment::destroy(f);
    CHECK(references_of(binary) == 2);
  }
  CHECK(references_of(binary) == 1);
  make_literal(binary);
  CHECK(references_of(binary) == 2);
}

TEST_CASE("An allocation's unused end can be given back") {
  Heap heap;
  Term* p = heap.alloc(10);
  heap.give_back(p + 4, p + 10);
  CHECK(heap.fragment_words == 4);
  CHECK(heap.alloc(3) == p + 4);
}

// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "test/unit/heap/random_terms.hpp"
#include "vm/heap/copy.hpp"
#include "vm/lifecycle/gc.hpp"
#include "vm/lifecycle/lifecycle_upcalls.hpp"
#include "vm/process/process.hpp"
#include "vm/process/process_state.hpp"

using namespace vmrun;
using namespace vmrun::test;

namespace {

/// A process that nobody runs, with a few registers and a stack.
struct Mutator {
  static constexpr unsigned kRegs = 8;
  Process p;
  Term regs[kRegs];

  explicit Mutator(Word min_words = 0) {
    init_heap(p.heap, min_words);
    p.id = Term::pid(77);
    p.group_leader = Term::pid(1);
    p.exception_value = p.exception_trace = p.exit_reason = Term::nil();
    for (Term& r : regs) r = Term::nil();
  }
  ~Mutator() { delete p.extra; }
  void push(Term t) {
    if (p.heap.free_words() < 1 + kStackReserveWords) REQUIRE(collect(p, 1, regs, kRegs) > 0);
    *--p.heap.stop = t;
  }
  Term cons(Term head, Term tail) {  // as an instruction behind test_heap does it; both are registers 0 and 1
    regs[0] = head;
    regs[1] = tail;
    if (p.heap.free_words() < 2 + kStackReserveWords) REQUIRE(collect(p, 2, regs, kRegs) > 0);
    Term* hp = p.heap.alloc(2);
    return make_cons(hp, regs[0], regs[1]);
  }
};

struct VerifyAlways {
  VerifyAlways() { gc_modes.verify = true; }
  ~VerifyAlways() { gc_modes.verify = false; }
};

Word total_used(const Heap& h) {
  return h.used_words() + h.fragment_words + static_cast<Word>(h.old_top - h.old_start);
}

}  // namespace

TEST_CASE("Sizes of heaps follow the table") {
  CHECK(next_heap_size(0) == 12);
  CHECK(next_heap_size(13) == 38);
  CHECK(next_heap_size(142) == 142);
  CHECK(next_heap_size(143) == 233);
  Word last = 0;
  for (Word w = 1; w < (Word{1} << 40); w = w * 3 / 2 + 1) {
    const Word size = next_heap_size(w);
    CHECK(size >= w);
    CHECK(size >= last);
    CHECK(next_heap_size(size) == size);
    last = size;
  }
}

TEST_CASE("Random graphs survive collections of every kind unchanged") {
  VerifyAlways verify;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Mutator m;
    RandomTerms random(seed);
    std::vector<Word> expected[Mutator::kRegs + 3];
    for (int i = 0; i < 3; ++i) m.push(Term::nil());
    for (int round = 0; round < 60; ++round) {
      Term* const slot =
          random.below(4) ? &m.regs[random.below(Mutator::kRegs)] : m.p.heap.stop + random.below(3);
      const auto at = [&](Term* s) {
        return s >= m.regs && s < m.regs + Mutator::kRegs ? s - m.regs : Mutator::kRegs + (s - m.p.heap.stop);
      };
      if (random.below(5) == 0) {  // a message: a fragment joins
        Heap sender;
        Fragment* f;
        *slot = copy_to_fragment(random.term(sender, 4), &f);
        random.forget_shared();
        if (f) m.p.heap.adopt(f);
      } else {
        *slot = random.below(6) ? random.term(m.p.heap, 5) : Term::nil();
      }
      expected[at(slot)] = flattened(*slot);
      if (random.below(2)) continue;
      if (random.below(8) == 0) forbid_collections(m.p, !collections_are_forbidden(m.p));
      const Term before = m.regs[0];
      const Word need = random.below(8) ? random.below(50) : random.below(5000);
      const auto kind = random.below(10);
      const int cost = kind == 0   ? collect_major(m.p, need, m.regs, Mutator::kRegs)
                       : kind == 1 ? collect_for_hibernate(m.p, m.regs, Mutator::kRegs)
                                   : collect(m.p, need, m.regs, Mutator::kRegs);
      REQUIRE(cost > 0);
      if (kind != 1) REQUIRE(m.p.heap.free_words() >= need + kStackReserveWords);
      REQUIRE(m.p.heap.stack_words() == 3);
      if (collections_are_forbidden(m.p)) REQUIRE(m.regs[0] == before);
      else REQUIRE(m.p.heap.fragments == nullptr);
      random.forget_shared();
      for (unsigned i = 0; i < Mutator::kRegs; ++i) {
        if (!expected[i].empty()) REQUIRE(flattened(m.regs[i]) == expected[i]);
      }
      for (unsigned i = 0; i < 3; ++i) {
        if (!expected[Mutator::kRegs + i].empty())
          REQUIRE(flattened(m.p.heap.stop[i]) == expected[Mutator::kRegs + i]);
      }
    }
    for (Term& r : m.regs) r = Term::nil();
    for (int i = 0; i < 3; ++i) m.p.heap.stop[i] = Term::nil();
    forbid_collections(m.p, false);
    REQUIRE(collect_major(m.p, 0, m.regs, Mutator::kRegs) > 0);
    REQUIRE(total_used(m.p.heap) == 0);
    REQUIRE(m.p.heap.off_heap == nullptr);
    REQUIRE(m.p.heap.old_off_heap == nullptr);
    REQUIRE(m.p.heap.block_words() == kDefaultHeapWords);
  }
}

TEST_CASE("A growing list is promoted and stays whole; dropping it shrinks the block") {
  VerifyAlways verify;
  Mutator m;
  constexpr SWord kCount = 30000;
  for (SWord i = 0; i < kCount; ++i) {
    m.cons(Term::nil(), Term::nil());  // garbage in between
    m.regs[2] = m.cons(Term::small(i), m.regs[2]);
  }
  const Term list = m.regs[2];
  CHECK(m.p.heap.old_start != nullptr);
  SWord i = kCount;
  for (Term t = list; t.is_list(); t = t.tail()) REQUIRE(t.head() == Term::small(--i));
  CHECK(i == 0);
  for (Term& r : m.regs) r = Term::nil();
  const Word before = m.p.heap.block_words();
  REQUIRE(collect_major(m.p, 0, m.regs, Mutator::kRegs) > 0);
  CHECK(before > kDefaultHeapWords);
  CHECK(m.p.heap.block_words() == kDefaultHeapWords);
  CHECK(m.p.heap.old_start == nullptr);
}

TEST_CASE("Sharing inside a process is kept") {
  Mutator m;
  Term* hp = m.p.heap.alloc(20);
  const Term leaf = make_tuple(hp, Term::small(1), Term::small(2));
  m.regs[0] = make_tuple(hp, leaf, leaf);
  m.regs[1] = leaf;
  for (int i = 0; i < 3; ++i) REQUIRE(collect(m.p, 10, m.regs, Mutator::kRegs) > 0);
  CHECK(m.regs[0].element(0) == m.regs[0].element(1));
  CHECK(m.regs[0].element(0) == m.regs[1]);
}

TEST_CASE("Match contexts follow the binary they look at") {
  VerifyAlways verify;
  Mutator m;
  RandomTerms random(3);
  for (int round = 0; round < 40; ++round) {
    const Term binary = random.binary(m.p.heap);
    auto* c = reinterpret_cast<MatchContext*>(m.p.heap.alloc(5));
    c->header = Term::header(Term::Sub::kMatchContext, 4);
    c->original = binary;
    c->base = binary.is_boxed_sub(Term::Sub::kHeapBinary)
                  ? reinterpret_cast<HeapBinary*>(binary.boxed_ptr())->data
                  : reinterpret_cast<RefcBinary*>(binary.boxed_ptr())->bytes;
    c->offset_bits = 0;
    c->size_bits = binary.boxed_ptr()[1].raw() * 8;
    m.regs[round % 4] = Term::boxed(&c->header);
    m.regs[4 + round % 4] = binary;
    REQUIRE(collect(m.p, 20, m.regs, Mutator::kRegs) > 0);  // verification compares bases
  }
}

TEST_CASE("Binaries are let go when their handles are garbage") {
  Mutator m;
  Binary* binary = Binary::create(100000);
  binary->retain();
  auto* r = reinterpret_cast<RefcBinary*>(m.p.heap.alloc(6));
  *r = {Term::header(Term::Sub::kRefcBinary, 5), 100000, nullptr, binary, binary->data, 0};
  m.p.heap.link_off_heap(reinterpret_cast<OffHeapObject*>(r), words_for_bytes(100000));
  m.regs[0] = Term::boxed(&r->header);
  for (int i = 0; i < 3; ++i) REQUIRE(collect(m.p, 10, m.regs, Mutator::kRegs) > 0);
  CHECK(binary->references.load() == 2);
  CHECK(m.p.heap.off_heap_words + m.p.heap.old_off_heap_words == 12500);
  m.regs[0] = Term::nil();
  REQUIRE(collect_major(m.p, 0, m.regs, Mutator::kRegs) > 0);
  CHECK(binary->references.load() == 1);
  CHECK(m.p.heap.off_heap_words + m.p.heap.old_off_heap_words == 0);
  binary->release();
}

TEST_CASE("Writable binaries lose their spare room when nothing is appended any more") {
  Mutator m;
  Binary* binary = Binary::create(100000);
  auto* r = reinterpret_cast<RefcBinary*>(m.p.heap.alloc(6));
  *r = {Term::header(Term::Sub::kRefcBinary, 5),          100, nullptr, binary, binary->data,
        RefcBinary::kWritable | RefcBinary::kActiveWriter};
  m.p.heap.link_off_heap(reinterpret_cast<OffHeapObject*>(r), words_for_bytes(100000));
  m.regs[0] = Term::boxed(&r->header);
  REQUIRE(collect_major(m.p, 0, m.regs, Mutator::kRegs) > 0);
  const auto now = [&] { return reinterpret_cast<RefcBinary*>(m.regs[0].boxed_ptr()); };
  CHECK(now()->binary->capacity_bytes == 100000);
  REQUIRE(collect_major(m.p, 0, m.regs, Mutator::kRegs) > 0);
  CHECK(now()->binary->capacity_bytes == 100);
  CHECK(now()->bytes == now()->binary->data);
}

TEST_CASE("max_heap_size ends the process, or only reports") {
  static Word reported;
  lifecycle_upcalls.report_max_heap = [](Process&, Word total) { reported = total; };
  for (const bool kill : {true, false}) {
    reported = 0;
    Mutator m;
    m.p.max_heap.words = 1000;
    m.p.max_heap.kill = kill;
    Term list = Term::nil();
    int cost = 1;
    for (SWord i = 0; i < 2000 && cost > 0; ++i) {
      m.regs[0] = list;
      if (m.p.heap.free_words() < 2 + kStackReserveWords) cost = collect(m.p, 2, m.regs, 1);
      if (cost < 0) break;
      Term* hp = m.p.heap.alloc(2);
      list = make_cons(hp, Term::small(i), m.regs[0]);
    }
    CHECK(reported > 1000);
    CHECK((cost < 0) == kill);
    if (kill) {
      CHECK(m.p.exception_value == atoms::killed);
      CHECK(m.p.bif_action == BifAction::kExitNow);
    }
  }
  lifecycle_upcalls.report_max_heap = {};
}

TEST_CASE("After fullsweep_after minor collections comes a full sweep") {
  Mutator m;
  m.p.fullsweep_after = 2;
  unsigned sweeps = 0;
  for (int i = 0; i < 12; ++i) {
    Term* hp = m.p.heap.alloc(3);
    m.regs[i % 8] = make_tuple(hp, Term::small(i), m.regs[(i + 7) % 8]);
    REQUIRE(collect(m.p, 10, m.regs, Mutator::kRegs) > 0);
    CHECK(m.p.minor_collections <= 2);
    sweeps += m.p.minor_collections == 0;
  }
  CHECK(sweeps == 4);
}

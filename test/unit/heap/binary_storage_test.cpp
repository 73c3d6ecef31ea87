// SPDX-License-Identifier: Apache-2.0
// Binaries outside the heaps: what their probes tell adds up to what is alive.
#include "vm/heap/off_heap.hpp"

#include <catch2/catch.hpp>

#include "probes/probes.hpp"
#include "test/unit/probes/fired.hpp"
#include "vm/heap/fragment.hpp"
#include "vm/term/bits.hpp"

using namespace vmrun;

namespace {

std::uint64_t id_of(const Binary* b) { return reinterpret_cast<std::uintptr_t>(b); }

}  // namespace

TEST_CASE("a binary is told of when it is made, resized, and gone with the last reference") {
  if (!probe::kCompiledIn) return;
  Fired fired{"binary__alloc", "binary__resize", "binary__release"};
  Binary* b = Binary::create(100);
  const std::uint64_t first = id_of(b);
  auto firings = fired.take();
  REQUIRE(firings.size() == 1);
  CHECK(firings[0].probe == "binary__alloc");
  CHECK(firings[0].words == std::vector<std::uint64_t>{kNonValue.raw(), first, 100});

  b = Binary::resize(b, 1'000'000);
  firings = fired.take();
  REQUIRE(firings.size() == 1);
  CHECK(firings[0].probe == "binary__resize");
  CHECK(firings[0].words == std::vector<std::uint64_t>{kNonValue.raw(), id_of(b), first, 1'000'000, 100});

  b->retain();
  b->release();
  CHECK(fired.take().empty());
  const std::uint64_t last = id_of(b);
  b->release();
  firings = fired.take();
  REQUIRE(firings.size() == 1);
  CHECK(firings[0].probe == "binary__release");
  CHECK(firings[0].words == std::vector<std::uint64_t>{kNonValue.raw(), last, 1'000'000});
}

TEST_CASE("a binary that cannot be had is not told of") {
  if (!probe::kCompiledIn) return;
  Fired fired{"binary__alloc", "binary__resize", "binary__release"};
  CHECK(Binary::create(Word{1} << 60) == nullptr);
  CHECK(fired.take().empty());
}

TEST_CASE("a fragment that joins a heap brings its references to binaries") {
  if (!probe::kCompiledIn) return;
  Fired fired{"binary__receive"};
  Heap heap;
  Binary* b = Binary::create(200);
  Arena from;
  const Term whole = make_refc_binary(from, b, b->data, 200);
  Fragment* f = new_fragment(2 * copy_size_words(whole));
  f->message = copy_into(*f, whole);
  (void)copy_into(*f, whole);
  CHECK(fired.take().empty());
  heap.adopt(f);
  const auto firings = fired.take();
  REQUIRE(firings.size() == 2);
  for (const auto& firing : firings) CHECK(firing.words[1] == id_of(b));
}

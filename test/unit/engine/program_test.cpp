// SPDX-License-Identifier: Apache-2.0
#include "probes/engine/program.hpp"

#include <catch2/catch.hpp>

#include <random>

#include "test/unit/engine/support.hpp"

using namespace vmrun::d;
using namespace vmrun::d::test;

namespace {

Program example() {
  Program p;
  p.options.strsize = 100;
  p.options.pid = 4711;
  p.options.policy = Options::Policy::kRing;
  p.constants = {0x123456789abcdef0};
  text(p, "a \"text\"\n");
  p.variables.push_back({"x", Scope::kSelf, true, 64, true, true});
  p.aggregations.push_back({"calls", Aggregating::kLquantize, {0, 10, 1, 0}, false});
  p.actions.push_back({3});
  p.timers.push_back({"tick-1s", 1'000'000'000, true});
  Clause c = clause(7, {{Op::kConst, 1, 0, 0, 0},
                        {Op::kText, 2, 0, 0, 1},
                        {Op::kJnz, 0, 1, 0, 4},
                        {Op::kLd, 3, 2, 4, 8},
                        {Op::kAgg, 1, 2, 0, 0},
                        {Op::kCall, 4, 2, 1, 0},
                        {Op::kSta, 4, 0, 0, 0},
                        {Op::kBuiltin, 4, 0, 0, 0}});
  c.probes[0].module = "lists";
  c.predicate = {{Op::kLoad, 0, 0, 0, -1}, {Op::kRet}};
  p.clauses.push_back(c);
  p.frame_bytes = 16;
  return p;
}

}  // namespace

TEST_CASE("a program comes back from its bytes") {
  const auto bytes = to_bytes(example());
  Program p;
  std::string why;
  REQUIRE(from_bytes(bytes, p, why));
  CHECK(to_bytes(p) == bytes);
  CHECK(p.options.strsize == 100);
  CHECK(p.options.pid == 4711);
  CHECK(p.options.policy == Options::Policy::kRing);
  CHECK(p.variables[0].name == "x");
  CHECK(p.variables[0].is_text);
  CHECK(p.aggregations[0].parameters[1] == 10);
  CHECK(p.timers[0].interval_ns == 1'000'000'000);
  CHECK(p.clauses[0].probes[0].module == "lists");
  CHECK(p.clauses[0].predicate.size() == 2);
  CHECK(p.clauses[0].body[1].imm == 1);
  CHECK(p.frame_bytes == 16);
}

TEST_CASE("what is not the bytes of a program is refused") {
  const auto bytes = to_bytes(example());
  Program p;
  std::string why;
  CHECK_FALSE(from_bytes("", p, why));
  CHECK(why == "these are not the bytes of a program");
  auto other = bytes;
  other[4] = 99;
  CHECK_FALSE(from_bytes(other, p, why));
  CHECK(why == "the program is of version 99, this engine is of version 4");
  for (std::size_t n = 8; n < bytes.size(); ++n) {
    CHECK_FALSE(from_bytes(std::string_view(bytes).substr(0, n), p, why));
    CHECK(why == "the bytes of the program are damaged");
  }
  CHECK_FALSE(from_bytes(bytes + '\0', p, why));
}

TEST_CASE("damaged bytes are read or refused") {
  const auto bytes = to_bytes(example());
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    auto damaged = bytes;
    for (unsigned k = 0; k <= random() % 4; ++k)
      damaged[8 + random() % (bytes.size() - 8)] = static_cast<char>(random());
    Program p;
    std::string why;
    if (from_bytes(damaged, p, why)) CHECK_FALSE(disassemble(p).empty());
  }
}

TEST_CASE("a program is listed an instruction a line") {
  CHECK(disassemble(example()) == R"(clause 0:
 predicate:
     0 load       %r0, -1
     1 ret
 body:
     0 const      %r1, 0x123456789abcdef0
     1 text       %r2, "a \"text\"\n"
     2 jnz        %r1, -> 4
     3 ld         %r3, %r2, 4, 8
     4 agg        %r1, %r2, @calls
     5 call       %r4, %r2, 1, strlen
     6 sta        %r4, x
     7 builtin    %r4, timestamp
     8 ret
)");
}

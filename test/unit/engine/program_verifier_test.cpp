// SPDX-License-Identifier: Apache-2.0
#include "probes/engine/program_verifier.hpp"

#include <catch2/catch.hpp>

#include <random>

#include "test/unit/engine/support.hpp"

using namespace vmrun::d;
using namespace vmrun::d::test;

namespace {

// One of everything.
Program furnished() {
  Program p;
  p.constants = {1, 0xffffffffffffffff};
  text(p, "hello");
  p.variables = {{"g", Scope::kGlobal},       {"text", Scope::kGlobal, false, 64, true, true},
                 {"s", Scope::kSelf},         {"st", Scope::kSelf, false, 64, true, true},
                 {"a", Scope::kGlobal, true}, {"at", Scope::kGlobal, true, 64, true, true},
                 {"sa", Scope::kSelf, true},  {"structure", Scope::kGlobal, false, 24, true}};
  p.aggregations = {{"c"},
                    {"q", Aggregating::kQuantize},
                    {"d", Aggregating::kStddev},
                    {"l", Aggregating::kLquantize, {0, 10, 2}},
                    {"ll", Aggregating::kLlquantize, {10, 0, 3, 20}}};
  p.actions.resize(2);
  p.frame_bytes = 32;
  return p;
}

std::string refusal(std::vector<Instruction> body, bool makes_record = true) {
  Program p = furnished();
  Clause c;
  c.probes.push_back({0, "", "", -1});
  c.body = std::move(body);
  c.makes_record = makes_record;
  p.clauses.push_back(c);
  std::string why;
  return verify(p, 1, why) ? "" : why;
}

std::string refusal(Instruction one) { return refusal({one, {Op::kRet}}); }

std::string refusal(const Program& program) {
  Program p = program;
  std::string why;
  return verify(p, 1, why) ? "" : why;
}

constexpr Instruction kRet{Op::kRet};

}  // namespace

TEST_CASE("operands that are not what they must be are refused") {
  CHECK(refusal(Instruction{static_cast<Op>(200)}) == "clause 0: instruction 0: there is no operation 200");
  CHECK(refusal(Instruction{Op::kLoad, 32}) == "clause 0: instruction 0: load: no register 32");
  CHECK(refusal(Instruction{Op::kLoad, 0, 1}) ==
        "clause 0: instruction 0: load: an operand that it does not have is not 0");
  CHECK(refusal(Instruction{Op::kConst, 0, 0, 0, 2}) == "clause 0: instruction 0: const: no constant 2");
  CHECK(refusal(Instruction{Op::kConst, 0, 0, 0, -1}) == "clause 0: instruction 0: const: no constant -1");
  CHECK(refusal(Instruction{Op::kText, 0, 0, 0, 7}) == "clause 0: instruction 0: text: no text 7");
  CHECK(refusal(Instruction{Op::kArg, 0, 0, 0, 12}) == "clause 0: instruction 0: arg: no argument 12");
  CHECK(refusal(Instruction{Op::kBuiltin, 0, 0, 0, kBuiltinCount}) ==
        "clause 0: instruction 0: builtin: no built-in " + std::to_string(kBuiltinCount));
  CHECK(refusal(Instruction{Op::kFrame, 0, 0, 0, 32}) ==
        "clause 0: instruction 0: frame: no byte of the frame 32");
  CHECK(refusal(Instruction{Op::kLdg, 0, 0, 0, 8}) == "clause 0: instruction 0: ldg: no variable 8");
  CHECK(refusal(Instruction{Op::kLdg, 0, 0, 0, 2}) == "clause 0: instruction 0: ldg: s is of another kind");
  CHECK(refusal(Instruction{Op::kLdt, 0, 0, 0, 6}) == "clause 0: instruction 0: ldt: sa is of another kind");
  CHECK(refusal(Instruction{Op::kLda, 0, 0, 0, 0}) == "clause 0: instruction 0: lda: g is of another kind");
  CHECK(refusal(Instruction{Op::kBegin, 0, 0, 0, 2}) == "clause 0: instruction 0: begin: no action 2");
  CHECK(refusal(Instruction{Op::kKeybuiltin, 0, 0, 0, 0}) ==
        "clause 0: instruction 0: keybuiltin: timestamp is no text");
  CHECK(refusal({{Op::kLoad, 0}, {Op::kSext, 1, 0, 65}, kRet}) ==
        "clause 0: instruction 1: sext: 65 is not within 1 and 64");
  CHECK(refusal({{Op::kLoad, 0}, {Op::kLd, 1, 0, 3}, kRet}) ==
        "clause 0: instruction 1: ld: 3 bytes at once");
  CHECK(refusal({{Op::kLoad, 0}, {Op::kSt, 0, 0, 129}, kRet}) ==
        "clause 0: instruction 1: st: 129 bytes at once");
  CHECK(refusal({{Op::kLoad, 0}, {Op::kCopy, 0, 0, 0, 0}, kRet}) ==
        "clause 0: instruction 1: copy: 0 is not within 1 and 262144");
  CHECK(refusal({{Op::kLoad, 0}, {Op::kAgg, 0, 0, 0, 5}, kRet}) ==
        "clause 0: instruction 1: agg: no aggregation 5");
  CHECK(refusal({{Op::kLoad, 0}, {Op::kCall, 0, 0, 2, 0}, kRet}) ==
        "clause 0: instruction 1: call: strlen takes 1 arguments");
  CHECK(refusal({{Op::kLoad, 31}, {Op::kCall, 0, 31, 2, 1}, kRet}) ==
        "clause 0: instruction 1: call: no register 32");
  const auto hd = static_cast<std::int32_t>(Subroutine::kHd);
  CHECK(refusal({{Op::kLoad, 0}, {Op::kCall, 0, 0, 1, hd}, kRet}) ==
        "clause 0: instruction 1: call: hd takes a term");
  CHECK(refusal({{Op::kTarg, 0}, {Op::kTint, 0, 0, 0, hd}, kRet}) ==
        "clause 0: instruction 1: tint: hd is of another kind");
}

TEST_CASE("registers are written before they are read, on every way") {
  CHECK(refusal({{Op::kMove, 0, 1}, kRet}) == "clause 0: instruction 0: move: register 1 may be unwritten");
  CHECK(refusal({{Op::kKeyterm, 0}, kRet}) ==
        "clause 0: instruction 0: keyterm: term register 0 may be unwritten");
  CHECK(refusal({{Op::kTarg, 8}, kRet}) == "clause 0: instruction 0: targ: no term register 8");
  const std::vector<Instruction> one_way = {{Op::kLoad, 0}, {Op::kJz, 0, 0, 0, 3}, {Op::kLoad, 1},
                                            {Op::kFi, 0},   {Op::kMove, 2, 1},     kRet};
  CHECK(refusal(one_way) == "clause 0: instruction 4: move: register 1 may be unwritten");
  const std::vector<Instruction> both = {{Op::kLoad, 0},
                                         {Op::kJz, 0, 0, 0, 4},
                                         {Op::kLoad, 1},
                                         {Op::kJump, 0, 0, 0, 5},
                                         {Op::kLoad, 1},
                                         {Op::kMove, 2, 1},
                                         kRet};
  CHECK(refusal(both).empty());
}

TEST_CASE("jumps go forward and stay inside, and the end is a ret") {
  CHECK(refusal(Instruction{Op::kJump, 0, 0, 0, 0}) == "clause 0: instruction 0: jump: it jumps to 0");
  CHECK(refusal(Instruction{Op::kJump, 0, 0, 0, 2}) == "clause 0: instruction 0: jump: it jumps to 2");
  CHECK(refusal({{Op::kLoad, 0}, {Op::kJnz, 0, 0, 0, -1}, kRet}) ==
        "clause 0: instruction 1: jnz: it jumps to -1");
  CHECK(refusal({{Op::kLoad, 0}}) == "clause 0: instruction 0: it runs on past the end");
  CHECK(refusal({{Op::kLoad, 0}, {Op::kJz, 0, 0, 0, 2}, {Op::kLoad, 0}}) ==
        "clause 0: instruction 2: it runs on past the end");
  CHECK(refusal(std::vector<Instruction>(8193, kRet)) ==
        "clause 0: 8193 instructions, at most 8192 are allowed");
  CHECK(refusal(std::vector<Instruction>{}).empty());
}

TEST_CASE("records and predicates") {
  CHECK(refusal({{Op::kBegin}, kRet}, false) ==
        "clause 0: instruction 0: begin: this clause makes no record");
  Program p = furnished();
  p.clauses.push_back(clause(0, {}));
  p.clauses[0].predicate = {kRet};
  CHECK(refusal(p) == "clause 0, predicate: instruction 0: ret: the predicate leaves no value in register 0");
  p.clauses[0].predicate = {{Op::kLoad, 0}, {Op::kFi, 0}, kRet};
  CHECK(refusal(p) == "clause 0, predicate: instruction 1: fi: a predicate makes no record");
  p.clauses[0].predicate = {{Op::kLoad, 0}, {Op::kExit, 0}, kRet};
  CHECK(refusal(p) == "clause 0, predicate: instruction 1: exit: not in a predicate");
}

TEST_CASE("tables and options keep within their bounds") {
  Program p = furnished();
  CHECK(refusal(p).empty());
  auto with = [&](auto&& change) {
    Program changed = furnished();
    change(changed);
    return refusal(changed);
  };
  CHECK(with([](Program& q) { q.options.strsize = 65537; }) == "strsize: 65537 is more than 65536");
  CHECK(with([](Program& q) { q.options.bufsize = 1ull << 40; }) ==
        "bufsize: 1099511627776 is more than 268435456");
  CHECK(with([](Program& q) { q.options.nspec = 1000, q.options.specsize = 1 << 20; }) ==
        "specsize: too much for so many speculations");
  CHECK(with([](Program& q) { q.options.policy = static_cast<Options::Policy>(3); }) ==
        "bufpolicy: there is no such policy");
  CHECK(with([](Program& q) { q.texts = "x"; }) == "the texts do not end");
  CHECK(with([](Program& q) { q.variables[0].bytes = 4; }) == "variable g: 4 bytes");
  CHECK(with([](Program& q) { q.variables[1].bytes = 1 << 20; }) == "variable text: 1048576 bytes");
  CHECK(with([](Program& q) { q.variables[0].scope = static_cast<Scope>(9); }) ==
        "variable g: no such scope");
  CHECK(with([](Program& q) {
          q.variables.assign(100, {"v", Scope::kGlobal, false, 256 << 10, true});
        }) == "26214400 bytes of global variables, at most 4194304 are allowed");
  CHECK(with([](Program& q) { q.aggregations[0].how = static_cast<Aggregating>(9); }) ==
        "aggregation c: no such kind");
  CHECK(with([](Program& q) { q.aggregations[3].parameters[2] = 0; }) ==
        "aggregation l: its steps are impossible");
  CHECK(with([](Program& q) { q.aggregations[4].parameters[0] = 1; }) ==
        "aggregation ll: its steps are impossible");
  CHECK(with([](Program& q) { q.frame_bytes = 1 << 20; }) ==
        "1048576 bytes of this-> variables, at most 65536 are allowed");
  CHECK(with([](Program& q) {
          q.timers.push_back({"tick-1ns", 1});
        }) == "timer tick-1ns: an interval of 1 ns");
  CHECK(with([](Program& q) { q.clauses.push_back(clause(1, {})); }) == "there is no probe 1");
  CHECK(with([](Program& q) { q.clauses.push_back(clause(kFirstTimerProbe, {})); }) ==
        "there is no probe 4278190080");
  CHECK(with([](Program& q) { q.clauses.push_back(clause(kErrorProbe + 1, {})); }) ==
        "there is no probe 4294967043");
  CHECK(with([](Program& q) {
          q.clauses.assign(9, clause(0, std::vector<Instruction>(8191, {Op::kLoad, 0})));
        }) == "73728 instructions at one probe, at most 65536 are allowed");
}

TEST_CASE("options that are 0 become the defaults") {
  Program p;
  p.options.strsize = 0;
  p.options.bufsize = 0;
  std::string why;
  REQUIRE(verify(p, 0, why));
  CHECK(p.options.strsize == 257);
  CHECK(p.options.bufsize == 4 << 20);
}

// Whatever is verified runs: no crash, no memory outside (under the address sanitizer), an end.
TEST_CASE("random programs that verify run") {
  std::mt19937 random(7);
  auto below = [&](std::uint32_t n) { return static_cast<std::int32_t>(random() % n); };
  constexpr std::size_t kLength = 60;
  std::size_t kept = 0;
  for (int round = 0; round < 150; ++round) {
    Program p = furnished();
    p.options.bufsize = 4096, p.options.aggsize = 8192, p.options.dynvarsize = 16384, p.options.strsize = 40;
    std::vector<Instruction> body(kLength, {Op::kLoad, 0});
    for (std::uint8_t r = 0; r < 8; ++r) body[r] = {Op::kLoad, r, 0, 0, below(300) - 50};
    for (std::uint8_t r = 0; r < 4; ++r) body[8 + r] = {Op::kText, r, 0, 0, below(7)};
    body[12] = {Op::kFrame, 4, 0, 0, below(32)};
    body[13] = {Op::kAddrg, 5, 0, 0, below(2)};
    body[14] = {Op::kTarg, 0, 0, 0, 2};
    p.clauses = {clause(0, body), clause(0, {{Op::kBegin}}), clause(kErrorProbe, {{Op::kBegin, 0, 0, 0, 1}})};
    auto& code = p.clauses[0].body;
    for (std::size_t at = 15; at < kLength; ++at)
      for (int attempt = 0; attempt < 40; ++attempt) {
        const Instruction before = code[at];
        code[at] = {static_cast<Op>(below(kOperationCount)), static_cast<std::uint8_t>(below(8)),
                    static_cast<std::uint8_t>(below(8)), static_cast<std::uint8_t>(below(9)), below(64) - 4};
        if (below(3) == 0) code[at].b = 0;
        if (below(3) == 0) code[at].c = 0;
        if (below(3) == 0) code[at].a = 0;
        std::string why;
        Program copy = p;
        if (verify(copy, 4, why)) {
          ++kept;
          break;
        }
        code[at] = before;
      }
    TestHost host;
    auto session = opened(p, host);
    session->begin();
    for (std::uint64_t i = 0; i < 50; ++i) {
      host.self_ = i % 5;
      host.fire(*session, 0, {i, reinterpret_cast<std::uint64_t>("a text"), 5},
                {ArgumentKind::kPid, ArgumentKind::kText, ArgumentKind::kInt64});
      session->forget_self((i + 3) % 5);
    }
    session->aggregations();
    session->end();
    records(*session);
  }
  CHECK(kept > 150 * 20);
}

TEST_CASE("damaged programs that verify run") {
  Program p = furnished();
  p.clauses = {clause(0, {{Op::kBegin},
                          {Op::kText, 1, 0, 0, 1},
                          {Op::kFs, 1},
                          {Op::kLdg, 2, 0, 0, 1},
                          {Op::kFs, 2},
                          {Op::kStg, 1, 0, 0, 1},
                          {Op::kKeyarg, 0, 0, 0, 1},
                          {Op::kLda, 3, 0, 0, 4},
                          {Op::kFi, 3},
                          {Op::kFrame, 4, 0, 0, 8},
                          {Op::kSt, 3, 4, 8, 8},
                          {Op::kLd, 5, 4, 4, 4},
                          {Op::kKeys, 1},
                          {Op::kAgg, 5, 3, 0, 3},
                          {Op::kFstack, 0, 0, 0, 10},
                          {Op::kCall, 6, 1, 1, static_cast<std::int32_t>(Subroutine::kStrlen)},
                          {Op::kJz, 0, 6, 0, 18},
                          {Op::kFb, 1, 0, 0, 3},
                          {Op::kCopys, 4, 1, 0, 6}})};
  std::string why;
  REQUIRE(verify(p, 1, why));
  const auto bytes = to_bytes(p);
  std::mt19937 random(3);
  int opened_count = 0;
  for (int i = 0; i < 1500; ++i) {
    auto damaged = bytes;
    // Mostly where the instructions are: at the end.
    for (unsigned k = 0; k <= random() % 3; ++k) {
      const std::size_t from = random() % 4 == 0 ? 8 : bytes.size() - 160;
      damaged[from + random() % (bytes.size() - from)] =
          static_cast<char>(random() % 3 == 0 ? random() : random() % 9);
    }
    Program q;
    if (!from_bytes(damaged, q, why)) continue;
    TestHost host;
    auto session = Session::open(std::move(q), host, why);
    if (session == nullptr) continue;
    ++opened_count;
    session->begin();
    for (std::uint64_t n = 0; n < 5; ++n)
      host.fire(*session, 0, {n, reinterpret_cast<std::uint64_t>("a text")},
                {ArgumentKind::kInt64, ArgumentKind::kText});
    session->aggregations();
    session->end();
    records(*session);
  }
  CHECK(opened_count > 100);
}

// SPDX-License-Identifier: Apache-2.0
// What each operation does, and what fires ERROR.
#include "probes/engine/memory.hpp"

#include <catch2/catch.hpp>

#include <limits>

#include "test/unit/engine/support.hpp"

using namespace vmrun::d;
using namespace vmrun::d::test;

namespace {

using Words = std::vector<std::uint64_t>;

std::uint64_t u(std::int64_t n) { return static_cast<std::uint64_t>(n); }

Words field(const std::string& s) { return encoded(Encoding::kText, s); }

Words operator+(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::uint64_t computed(Op op, std::int64_t b, std::int64_t c) {
  Program p;
  p.constants = {u(b), u(c)};
  const auto result =
      ran(p, {{Op::kConst, 1, 0, 0, 0}, {Op::kConst, 2, 0, 0, 1}, {op, 0, 1, 2}, {Op::kFi, 0}});
  REQUIRE_FALSE(result.fault);
  REQUIRE(result.words.size() == 1);
  return result.words[0];
}

std::uint64_t one(Op op, std::int64_t b, std::uint8_t c = 0) {
  Program p;
  p.constants = {u(b)};
  const auto result = ran(p, {{Op::kConst, 1, 0, 0, 0}, {op, 0, 1, c}, {Op::kFi, 0}});
  REQUIRE(result.words.size() == 1);
  return result.words[0];
}

constexpr auto kLeastInteger = std::numeric_limits<std::int64_t>::min();

}  // namespace

TEST_CASE("numbers") {
  CHECK(computed(Op::kAdd, 5, -7) == u(-2));
  CHECK(computed(Op::kSub, 5, 7) == u(-2));
  CHECK(computed(Op::kMul, -3, 7) == u(-21));
  CHECK(computed(Op::kSdiv, -7, 2) == u(-3));
  CHECK(computed(Op::kSdiv, kLeastInteger, -1) == u(kLeastInteger));
  CHECK(computed(Op::kSrem, -7, 2) == u(-1));
  CHECK(computed(Op::kSrem, kLeastInteger, -1) == 0);
  CHECK(computed(Op::kUdiv, -1, 2) == u(std::numeric_limits<std::int64_t>::max()));
  CHECK(computed(Op::kUrem, -1, 10) == 5);
  CHECK(computed(Op::kAnd, 12, 10) == 8);
  CHECK(computed(Op::kOr, 12, 10) == 14);
  CHECK(computed(Op::kXor, 12, 10) == 6);
  CHECK(computed(Op::kSll, 1, 65) == 2);
  CHECK(computed(Op::kSrl, -1, 63) == 1);
  CHECK(computed(Op::kSra, -8, 1) == u(-4));
  CHECK(computed(Op::kSeq, 1, 1) == 1);
  CHECK(computed(Op::kSne, 1, 1) == 0);
  CHECK(computed(Op::kSlt, -1, 1) == 1);
  CHECK(computed(Op::kSult, -1, 1) == 0);
  CHECK(computed(Op::kSle, 1, 1) == 1);
  CHECK(computed(Op::kSule, 2, 1) == 0);
  CHECK(one(Op::kNot, 0) == u(-1));
  CHECK(one(Op::kNeg, 3) == u(-3));
  CHECK(one(Op::kMove, 3) == 3);
  CHECK(one(Op::kSext, 0xff, 8) == u(-1));
  CHECK(one(Op::kSext, 0x7f, 8) == 0x7f);
  CHECK(one(Op::kSext, -5, 64) == u(-5));
  CHECK(one(Op::kZext, -1, 8) == 0xff);
  CHECK(one(Op::kZext, -1, 64) == u(-1));
}

TEST_CASE("division by zero") {
  for (const Op op : {Op::kSdiv, Op::kUdiv, Op::kSrem, Op::kUrem}) {
    const auto result = ran({}, {{Op::kLoad, 0}, {op, 0, 0, 0}});
    CHECK(result.fault);
    CHECK(result.kind == FaultKind::kDivideByZero);
    CHECK(result.offset == 2);
  }
}

TEST_CASE("jumps") {
  const auto result = ran({}, {{Op::kLoad, 0, 0, 0, 5},
                               {Op::kJz, 0, 0, 0, 4},
                               {Op::kJump, 0, 0, 0, 5},
                               {Op::kLoad, 0, 0, 0, 7},
                               {Op::kFi, 0},
                               {Op::kJnz, 0, 0, 0, 7},
                               {Op::kFi, 0}});
  // Indexes are of the body with `begin` before it.
  CHECK(result.words == Words{5, 5});
}

TEST_CASE("the script's memory: frame, scratch, and what is no memory") {
  Program p;
  p.frame_bytes = 16;
  CHECK(ran(p, {{Op::kFrame, 1, 0, 0, 8},
                {Op::kLoad, 2, 0, 0, -2},
                {Op::kSt, 2, 1, 2, 2},
                {Op::kLd, 3, 1, 8, 0},
                {Op::kFi, 3},
                {Op::kLd, 3, 1, 2 | 128, 2},
                {Op::kFi, 3},
                {Op::kLd, 3, 1, 1, -8},
                {Op::kFi, 3}})
            .words == Words{0xfffe0000, u(-2), 0});
  CHECK(ran(p, {{Op::kLoad, 1, 0, 0, 24},
                {Op::kAlloc, 2, 1},
                {Op::kSt, 1, 2, 8, 16},
                {Op::kFb, 2, 0, 0, 24},
                {Op::kFrame, 3},
                {Op::kCopy, 3, 2, 0, 16},
                {Op::kFb, 3, 0, 0, 5}})
            .words == encoded(Encoding::kBytes, std::string(16, '\0') + '\x18' + std::string(7, '\0')) +
                          encoded(Encoding::kBytes, std::string(5, '\0')));
  auto bad = [&](Address a, std::uint8_t bytes, bool store) {
    p.constants = {a};
    const auto result = ran(p, {{Op::kConst, 1}, {store ? Op::kSt : Op::kLd, 1, 1, bytes}});
    return result.fault && result.kind == FaultKind::kBadAddress && result.address == a;
  };
  text(p, "abc");
  for (const bool store : {false, true}) {
    CHECK(bad(0, 1, store));
    CHECK(bad(u(-1), 1, store));
    CHECK(bad(address(Segment::kFrame, 16), 1, store));
    CHECK(bad(address(Segment::kFrame, 9), 8, store));
    CHECK(bad(address(Segment::kFrame, 0xffffffff), 8, store));
    CHECK(bad(address(Segment::kCount, 0), 1, store));
    CHECK(bad(reinterpret_cast<std::uint64_t>(&p), 1, store));
  }
  CHECK(bad(address(Segment::kTexts, 1), 1, true));
  CHECK_FALSE(bad(address(Segment::kTexts, 1), 1, false));
  const auto much = ran({}, {{Op::kLoad, 1, 0, 0, 1 << 30}, {Op::kAlloc, 2, 1}});
  CHECK(much.kind == FaultKind::kNoScratch);
  CHECK(much.fault);
}

TEST_CASE("texts") {
  Program p;
  p.frame_bytes = 8;
  const auto hello = text(p, "hello"), help = text(p, "help");
  auto compare = [&](std::int32_t a, std::int32_t b) {
    return ran(p, {{Op::kText, 1, 0, 0, a}, {Op::kText, 2, 0, 0, b}, {Op::kScmp, 0, 1, 2}, {Op::kFi, 0}})
        .words;
  };
  CHECK(compare(hello, help) == Words{u(-1)});
  CHECK(compare(help, hello) == Words{1});
  CHECK(compare(help, help) == Words{0});
  CHECK(compare(help, 0) == Words{1});
  CHECK(
      ran(p, {{Op::kText, 1, 0, 0, hello}, {Op::kFrame, 2}, {Op::kCopys, 2, 1, 0, 4}, {Op::kFs, 2}}).words ==
      field("hel"));
  CHECK(ran(p, {{Op::kText, 1, 0, 0, hello}, {Op::kFs, 1}, {Op::kLoad, 1}, {Op::kFs, 1}}).words ==
        field("hello") + Words{static_cast<std::uint64_t>(Encoding::kNull)});
  CHECK(ran(p, {{Op::kLoad, 1, 0, 0, 77}, {Op::kFs, 1}}).kind == FaultKind::kBadAddress);
  // One that goes on to the end of its segment ends there.
  CHECK(ran(p, {{Op::kFrame, 1}, {Op::kLoad, 2, 0, 0, -1}, {Op::kSt, 2, 1, 8}, {Op::kFs, 1}}).words ==
        field(std::string(8, '\xff')));
}

TEST_CASE("arguments in all forms") {
  TestHost host;
  Program p;
  p.actions.resize(1);
  p.options.strsize = 6;
  p.clauses = {clause(0, {{Op::kArg, 0, 0, 0, 0},
                          {Op::kFi, 0},
                          {Op::kArg, 0, 0, 0, 11},
                          {Op::kFi, 0},
                          {Op::kFarg, 0, 0, 0, 1},
                          {Op::kFarg, 0, 0, 0, 2},
                          {Op::kFarg, 0, 0, 0, 9},
                          {Op::kArgtext, 0, 0, 0, 2},
                          {Op::kFs, 0},
                          {Op::kArgtext, 0, 0, 0, 3},
                          {Op::kFi, 0},
                          {Op::kTarg, 0, 0, 0, 0},
                          {Op::kTcall, 1, 0, 0, static_cast<std::int32_t>(Subroutine::kElement)},
                          {Op::kTint, 1, 1, 0, static_cast<std::int32_t>(Subroutine::kTerm2int)},
                          {Op::kFi, 1},
                          {Op::kTtext, 1, 1},
                          {Op::kFs, 1},
                          {Op::kFterm, 1, 0, 0, 1},
                          {Op::kFstack, 0, 0, 0, 2}})};
  auto session = opened(p, host);
  session->begin();
  host.fire(*session, 0, {42, 7, reinterpret_cast<std::uint64_t>("a long text"), 0},
            {ArgumentKind::kInt64, ArgumentKind::kPid, ArgumentKind::kText, ArgumentKind::kText});
  const auto all = records(*session);
  REQUIRE(all.size() == 1);
  const Words pid = {static_cast<std::uint64_t>(Encoding::kPid) | std::uint64_t{16} << 32, 7, 8};
  const Words stack = {static_cast<std::uint64_t>(Encoding::kStack) | std::uint64_t{16} << 32, 100, 101};
  CHECK(all[0].words == Words{42, 0} + pid + field("a lon") + Words{0} + field("a lon") + Words{0} +
                            Words{42} + field("42") + field("4") + stack);
}

TEST_CASE("built-ins") {
  Program p;
  auto number = [&](Builtin b) {
    return ran(p, {{Op::kBuiltin, 0, 0, 0, static_cast<std::int32_t>(b)}, {Op::kFi, 0}}).words.at(0);
  };
  auto shown = [&](Builtin b) {
    return ran(p, {{Op::kFbuiltin, 0, 0, 0, static_cast<std::int32_t>(b)}}).words;
  };
  CHECK(number(Builtin::kPid) == static_cast<std::uint64_t>(getpid()));
  CHECK(number(Builtin::kUid) == getuid());
  CHECK(number(Builtin::kId) == 1);
  CHECK(number(Builtin::kCpu) == 7);
  CHECK(number(Builtin::kTimestamp) != 0);
  CHECK(number(Builtin::kMsgqlen) == 1000 + static_cast<std::uint64_t>(Builtin::kMsgqlen));
  CHECK(shown(Builtin::kProbename) == field("BEGIN"));
  CHECK(shown(Builtin::kProbeprov) == field("dtrace"));
  CHECK(shown(Builtin::kProbefunc) == field(""));
  CHECK(shown(Builtin::kMfa) == field("host"));
  CHECK(
      ran(p, {{Op::kBuiltin, 0, 0, 0, static_cast<std::int32_t>(Builtin::kProbename)}, {Op::kFs, 0}}).words ==
      field("BEGIN"));
}

TEST_CASE("keys have a bound, and so has the work on texts") {
  Program p;
  p.options.strsize = 65536;
  const auto much = text(p, std::string(65000, 'x'));
  std::vector<Instruction> body = {{Op::kText, 0, 0, 0, much}};
  for (int i = 0; i < 3; ++i) body.push_back({Op::kKeys, 0});
  CHECK(ran(p, body).kind == FaultKind::kTupleOverflow);
  body.resize(1);
  for (int i = 0; i < 200; ++i) body.push_back({Op::kScmp, 1, 0, 0});
  CHECK(ran(p, body).kind == FaultKind::kIllegalOperation);
}

TEST_CASE("a record that is too long is dropped and counted; the next one is not") {
  TestHost host;
  Program p;
  p.actions.resize(1);
  p.options.strsize = 65536;
  const auto much = text(p, std::string(65000, 'x'));
  std::vector<Instruction> body = {{Op::kBegin}, {Op::kText, 0, 0, 0, much}};
  for (int i = 0; i < 9; ++i) body.push_back({Op::kFs, 0});
  p.clauses = {clause(0, body), clause(0, {})};
  auto session = opened(p, host);
  session->begin();
  host.fire(*session, 0);
  CHECK(session->drops(Drop::kPrincipal) == 1);
  CHECK(records(*session).size() == 1);
}

TEST_CASE("a predicate decides; what it leaves behind does not") {
  TestHost host;
  Program p;
  p.clauses = {clause(0, {})};
  p.clauses[0].predicate = {{Op::kArg, 0, 0, 0, 0}, {Op::kKeyi, 0}, {Op::kRet}};
  auto session = opened(p, host);
  session->begin();
  for (std::uint64_t i = 0; i < 4; ++i) host.fire(*session, 0, {i % 2});
  CHECK(records(*session).size() == 2);
}

TEST_CASE("this-> variables last from clause to clause of a firing, not longer") {
  TestHost host;
  Program p;
  p.frame_bytes = 8;
  p.actions.resize(1);
  const std::vector<Instruction> body = {{Op::kBegin},      {Op::kFrame, 1},         {Op::kLd, 0, 1, 8},
                                         {Op::kFi, 0},      {Op::kLoad, 2, 0, 0, 1}, {Op::kAdd, 0, 0, 2},
                                         {Op::kSt, 0, 1, 8}};
  p.clauses = {clause(0, body), clause(0, body)};
  auto session = opened(p, host);
  session->begin();
  host.fire(*session, 0);
  host.fire(*session, 0);
  const auto all = records(*session);
  REQUIRE(all.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) CHECK(all[i].words == Words{0, i % 2});
}

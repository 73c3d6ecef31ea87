// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <limits>
#include <optional>
#include <variant>

#include "test/unit/engine/support.hpp"

using namespace vmrun::d;
using namespace vmrun::d::test;

namespace {

using Argument = std::variant<std::int64_t, const char*>;

// The call with these arguments in registers 1, 2, ...; its result is put to the record by `show`.
Ran called(Subroutine s, const std::vector<Argument>& arguments, Op show) {
  Program p;
  std::vector<Instruction> body;
  std::uint8_t r = 1;
  for (const auto& a : arguments) {
    if (const auto* number = std::get_if<std::int64_t>(&a)) {
      p.constants.push_back(static_cast<std::uint64_t>(*number));
      body.push_back({Op::kConst, r, 0, 0, static_cast<std::int32_t>(p.constants.size()) - 1});
    } else {
      body.push_back({Op::kText, r, 0, 0, text(p, std::get<const char*>(a))});
    }
    ++r;
  }
  body.push_back(
      {Op::kCall, 0, 1, static_cast<std::uint8_t>(arguments.size()), static_cast<std::int32_t>(s)});
  body.push_back({show, 0});
  return ran(p, body);
}

std::string text_of(Subroutine s, const std::vector<Argument>& arguments) {
  const auto result = called(s, arguments, Op::kFs);
  if (result.fault) return "fault";
  if (static_cast<std::uint32_t>(result.words[0]) == static_cast<std::uint32_t>(Encoding::kNull))
    return "NULL";
  return {reinterpret_cast<const char*>(&result.words[1]), result.words[0] >> 32};
}

std::optional<std::int64_t> number_of(Subroutine s, const std::vector<Argument>& arguments) {
  const auto result = called(s, arguments, Op::kFi);
  if (result.fault) return std::nullopt;
  return static_cast<std::int64_t>(result.words[0]);
}

constexpr auto kMostInteger = std::numeric_limits<std::int64_t>::max();
using enum Subroutine;

}  // namespace

TEST_CASE("parts of texts") {
  CHECK(number_of(kStrlen, {"hello"}) == 5);
  CHECK(text_of(kStrjoin, {"ab", "cd"}) == "abcd");
  CHECK(text_of(kStrstr, {"foobar", "oba"}) == "obar");
  CHECK(text_of(kStrstr, {"foobar", "x"}) == "NULL");
  CHECK(text_of(kStrstr, {"foobar", ""}) == "foobar");
  CHECK(text_of(kStrchr, {"foobar", 'o'}) == "oobar");
  CHECK(text_of(kStrchr, {"foobar", 'x'}) == "NULL");
  CHECK(text_of(kStrrchr, {"foobar", 'o'}) == "obar");
  CHECK(text_of(kToupper, {"aZ-1"}) == "AZ-1");
  CHECK(text_of(kTolower, {"aZ-1"}) == "az-1");
  for (const auto s : {kStrlen, kToupper, kBasename}) CHECK(text_of(s, {0}) == "fault");
}

TEST_CASE("substr as dtrace has it") {
  CHECK(text_of(kSubstr, {"foobarbazbop", 3, kMostInteger}) == "barbazbop");
  CHECK(text_of(kSubstr, {"foobarbazbop", 3, 3}) == "bar");
  CHECK(text_of(kSubstr, {"foobarbazbop", -3, kMostInteger}) == "bop");
  CHECK(text_of(kSubstr, {"foobarbazbop", 300, 3}).empty());
  CHECK(text_of(kSubstr, {"foobarbazbop", 0, -3}) == "foobarbaz");
  CHECK(text_of(kSubstr, {"foobarbazbop", 3, -3}) == "barbaz");
  CHECK(text_of(kSubstr, {"foobarbazbop", 0, -30}).empty());
  CHECK(text_of(kSubstr, {"foobarbazbop", -20, 10}) == "fo");
  CHECK(text_of(kSubstr, {"foobarbazbop", 0, 0}).empty());
}

TEST_CASE("index and rindex") {
  CHECK(number_of(kIndex, {"foobarfoo", "foo", 0}) == 0);
  CHECK(number_of(kIndex, {"foobarfoo", "foo", 1}) == 6);
  CHECK(number_of(kIndex, {"foobarfoo", "x", 0}) == -1);
  CHECK(number_of(kIndex, {"foobarfoo", "foo", 100}) == -1);
  CHECK(number_of(kIndex, {"foobarfoo", "foo", -5}) == 0);
  CHECK(number_of(kRindex, {"foobarfoo", "foo", kMostInteger}) == 6);
  CHECK(number_of(kRindex, {"foobarfoo", "foo", 5}) == 0);
  CHECK(number_of(kRindex, {"foobarfoo", "x", kMostInteger}) == -1);
  CHECK(number_of(kRindex, {"foobarfoo", "foo", -1}) == -1);
}

TEST_CASE("numbers and texts") {
  CHECK(text_of(kLltostr, {-42, 10}) == "-42");
  CHECK(text_of(kLltostr, {std::numeric_limits<std::int64_t>::min(), 10}) == "-9223372036854775808");
  CHECK(text_of(kLltostr, {255, 16}) == "0xff");
  CHECK(text_of(kLltostr, {8, 8}) == "010");
  CHECK(text_of(kLltostr, {0, 8}) == "0");
  CHECK(text_of(kLltostr, {-1, 2}) == std::string(64, '1'));
  CHECK(text_of(kLltostr, {1, 1}) == "fault");
  CHECK(text_of(kLltostr, {1, 37}) == "fault");
  CHECK(number_of(kStrtoll, {"  -42x", 10}) == -42);
  CHECK(number_of(kStrtoll, {"0xFf", 16}) == 255);
  CHECK(number_of(kStrtoll, {"zz", 36}) == 35 * 36 + 35);
  CHECK(number_of(kStrtoll, {"", 10}) == 0);
  CHECK(number_of(kStrtoll, {"1", 0}) == std::nullopt);
}

TEST_CASE("paths") {
  CHECK(text_of(kBasename, {"/foo/bar//"}) == "bar");
  CHECK(text_of(kBasename, {"/"}) == "/");
  CHECK(text_of(kBasename, {""}) == ".");
  CHECK(text_of(kBasename, {"bar"}) == "bar");
  CHECK(text_of(kDirname, {"/foo//bar//"}) == "/foo");
  CHECK(text_of(kDirname, {"/foo"}) == "/");
  CHECK(text_of(kDirname, {"foo"}) == ".");
  CHECK(text_of(kDirname, {""}) == ".");
  CHECK(text_of(kDirname, {"//"}) == "/");
  CHECK(text_of(kCleanpath, {"/foo/./bar/../baz//x"}) == "/foo/baz/x");
  CHECK(text_of(kCleanpath, {"/../../x"}) == "/x");
  CHECK(text_of(kCleanpath, {"../../x/.."}) == "../..");
  CHECK(text_of(kCleanpath, {"a/../b"}) == "b");
  CHECK(text_of(kCleanpath, {"/a/.."}) == "/");
}

TEST_CASE("byte order, addresses, random numbers") {
  CHECK(number_of(kHtons, {0x1234}) == 0x3412);
  CHECK(number_of(kNtohl, {0x12345678}) == 0x78563412);
  CHECK(number_of(kHtonll, {0x0123456789abcdef}) == static_cast<std::int64_t>(0xefcdab8967452301));
  CHECK(text_of(kInetNtoa, {"\x7f\x01\x02\x03"}) == "127.1.2.3");
  CHECK(text_of(kInetNtoa, {0}) == "fault");
  CHECK(number_of(kRand, {}) >= 0);
}

TEST_CASE("strtok goes on where it was, within a firing") {
  Program p;
  const auto path = text(p, "/usr//bin/"), slash = text(p, "/");
  const auto strtok = static_cast<std::int32_t>(kStrtok);
  const std::vector<Instruction> body = {{Op::kText, 1, 0, 0, path},
                                         {Op::kText, 2, 0, 0, slash},
                                         {Op::kCall, 0, 1, 2, strtok},
                                         {Op::kFs, 0},
                                         {Op::kLoad, 1},
                                         {Op::kCall, 0, 1, 2, strtok},
                                         {Op::kFs, 0},
                                         {Op::kCall, 0, 1, 2, strtok},
                                         {Op::kFs, 0}};
  auto expected = encoded(Encoding::kText, "usr");
  for (const auto word : encoded(Encoding::kText, "bin")) expected.push_back(word);
  expected.push_back(static_cast<std::uint64_t>(Encoding::kNull));
  CHECK(ran(p, body).words == expected);
  CHECK(text_of(kStrtok, {0, "/"}) == "fault");
}

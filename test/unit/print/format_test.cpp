// SPDX-License-Identifier: Apache-2.0
#include "probes/print/format.hpp"

#include <cstdlib>
#include <ctime>

#include <catch2/catch.hpp>

// printf, trace and tracemem, with what the DTrace guide says of each conversion.
using namespace vmrun::d;

namespace {

std::string printed(std::string_view format, const std::vector<Value>& values = {}) {
  std::string out;
  format_values(out, parse_format(format), values);
  return out;
}

std::string traced(const Value& value, bool quiet = false) {
  std::string out;
  format_trace(out, value, quiet);
  return out;
}

Value bytes(std::string_view text) {
  Value value = Value::text(text);
  value.kind = Field::Kind::kBytes;
  return value;
}

}  // namespace

TEST_CASE("printf: plain text and %%") {
  CHECK(printed("") == "");
  CHECK(printed("hello\n") == "hello\n");
  CHECK(printed("100%% of %d%%", {Value::integer(7)}) == "100% of 7%");
  CHECK(printed("%d and %s.", {Value::integer(2), Value::text("two")}) == "2 and two.");
}

TEST_CASE("printf: the sign of the argument's type decides what %d shows, its width what %u and %x do") {
  CHECK(printed("%d", {Value::integer(-1, 4)}) == "-1");
  CHECK(printed("%d", {Value::integer(-1, 8, false)}) == "18446744073709551615");
  CHECK(printed("%i", {Value::integer(INT64_MIN)}) == "-9223372036854775808");
  CHECK(printed("%u", {Value::integer(-1, 1)}) == "255");
  CHECK(printed("%u", {Value::integer(-1, 2)}) == "65535");
  CHECK(printed("%x", {Value::integer(-1, 4)}) == "ffffffff");
  CHECK(printed("%lld", {Value::integer(5)}) == "5");
  CHECK(printed("%hhx", {Value::integer(0x1ff)}) == "1ff");
}

TEST_CASE("printf: %x %X %o %p") {
  CHECK(printed("%x %X %o", {Value::integer(0xbeef), Value::integer(0xbeef), Value::integer(8)}) ==
        "beef BEEF 10");
  CHECK(printed("%#x %#X %#o", {Value::integer(255), Value::integer(255), Value::integer(8)}) ==
        "0xff 0XFF 010");
  CHECK(printed("%#x", {Value::integer(0)}) == "0");
  CHECK(printed("%p", {Value::integer(0x7fff0000)}) == "7fff0000");
  CHECK(printed("%?x|", {Value::integer(1)}) == "               1|");
}

TEST_CASE("printf: flags, width and precision") {
  const Value n = Value::integer(123, 4);
  CHECK(printed("%08d", {n}) == "00000123");
  CHECK(printed("%-8d|", {n}) == "123     |");
  CHECK(printed("%+8d", {n}) == "    +123");
  CHECK(printed("% d", {n}) == " 123");
  CHECK(printed("%.5d", {n}) == "00123");
  CHECK(printed("%8.5d", {n}) == "   00123");
  CHECK(printed("%08.5d", {n}) == "   00123");
  CHECK(printed("%-08d|", {n}) == "123     |");
  CHECK(printed("%.0d|", {Value::integer(0)}) == "|");
  CHECK(printed("%'d", {Value::integer(1234567)}) == "1,234,567");
  CHECK(printed("%08d", {Value::integer(-5)}) == "-0000005");
}

TEST_CASE("printf: width and precision of *") {
  CHECK(printed("%*d", {Value::integer(6), Value::integer(42)}) == "    42");
  CHECK(printed("%*d|", {Value::integer(-6), Value::integer(42)}) == "42    |");
  CHECK(printed("%.*s", {Value::integer(2), Value::text("abcdef")}) == "ab");
  CHECK(printed("%*.*s|", {Value::integer(5), Value::integer(2), Value::text("abcdef")}) == "   ab|");
}

TEST_CASE("printf: texts") {
  CHECK(printed("%s|%5s|%-5s|%.2s", {Value::text("abc"), Value::text("abc"), Value::text("abc"),
                                     Value::text("abc")}) == "abc|  abc|abc  |ab");
  CHECK(printed("%s", {bytes(std::string_view("ab\0cd", 5))}) == "ab");
  Value null = Value::text("");
  null.is_null = true;
  CHECK(printed("%s", {null}) == "(null)");
  CHECK(printed("%S", {Value::text("a\tb\n\"\x01")}) == R"(a\tb\n\"\001)");
}

TEST_CASE("printf: characters") {
  CHECK(printed("%c%c|%3c", {Value::integer('o'), Value::integer('k'), Value::integer('x')}) == "ok|  x");
  CHECK(printed("%C%C%C", {Value::integer('a'), Value::integer('\n'), Value::integer(7)}) == R"(a\n\a)");
}

TEST_CASE("printf: times") {
  setenv("TZ", "UTC", 1);
  tzset();
  CHECK(printed("%Y", {Value::integer(0)}) == "1970 Jan  1 00:00:00");
  CHECK(printed("[%-21Y]", {Value::integer(1'000'000'000'000'000'000)}) == "[2001 Sep  9 01:46:40 ]");
  CHECK(printed("%T", {Value::integer(0)}) == "Thu, 01 Jan 1970 00:00:00 UTC");
}

TEST_CASE("printf: what is no conversion stays") {
  CHECK(printed("50%") == "50%");
  CHECK(printed("%5.") == "%5.");
}

TEST_CASE("trace: integers stand in a column as wide as their type") {
  CHECK(traced(Value::integer(1, 8)) == "                   1");
  CHECK(traced(Value::integer(1, 4)) == "          1");
  CHECK(traced(Value::integer(1, 2)) == "     1");
  CHECK(traced(Value::integer(1, 1)) == "   1");
  CHECK(traced(Value::integer(-1, 4)) == "         -1");
  CHECK(traced(Value::integer(-1, 4), true) == "-1");
  CHECK(traced(Value::integer(-1, 4, false), true) == "4294967295");
}

TEST_CASE("trace: texts") {
  CHECK(traced(Value::text("hello, world")) == "  hello, world                     ");
  CHECK(traced(Value::text("hello, world"), true) == "hello, world");
  CHECK(traced(bytes(std::string_view("abc\0\0\0", 6)), true) == "abc");
}

TEST_CASE("trace: bytes that are no text are a dump") {
  CHECK(traced(bytes(std::string_view("\x01\x02\0z", 4)), true) ==
        "\n             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef\n"
        "         0: 01 02 00 7a                                      ...z\n");
}

TEST_CASE("tracemem: 16 bytes a line") {
  std::string out;
  format_dump(out, "0123456789abcdefXY");
  CHECK(out ==
        "\n             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef\n"
        "         0: 30 31 32 33 34 35 36 37 38 39 61 62 63 64 65 66  0123456789abcdef\n"
        "        10: 58 59                                            XY\n");
}

TEST_CASE("printf: a stack begins a line, its frames lie at the width") {
  Value stack = Value::text("lists:map/2\nm:f/1\n");
  stack.kind = Field::Kind::kStack;
  CHECK(printed("at:%k", {stack}) == "at:\nlists:map/2\nm:f/1\n");
  CHECK(printed("at:%-4k", {stack}) == "at:\n    lists:map/2\n    m:f/1\n");
}

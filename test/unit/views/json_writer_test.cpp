// SPDX-License-Identifier: Apache-2.0
#include "probes/views/json_writer.hpp"

#include <catch2/catch.hpp>

using namespace vmrun::d;

namespace {

std::string json(std::string_view text) {
  std::string out;
  put_json(out, text);
  return out;
}

}  // namespace

TEST_CASE("json: texts are quoted, what JSON would take for its own is escaped") {
  CHECK(json("") == R"("")");
  CHECK(json("lists:map/2") == R"("lists:map/2")");
  CHECK(json("a\"b\\c") == R"("a\"b\\c")");
  CHECK(json("a\nb\tc") == R"("a\nb\u0009c")");
  CHECK(json(std::string_view("\0\x1f\x7f", 3)) == R"("\u0000\u001f\u007f")");
}

TEST_CASE("json: UTF-8 stays, what is none becomes the replacement character") {
  CHECK(json("smörgås \u20ac \U0001F600") == "\"smörgås \u20ac \U0001F600\"");
  CHECK(json("\xff") == R"("\ufffd")");
  CHECK(json("a\xe2\x82") == R"("a\ufffd\ufffd")");              // cut in the middle
  CHECK(json("\xc0\xaf") == R"("\ufffd\ufffd")");                // an overlong /
  CHECK(json("\xed\xa0\x80") == R"("\ufffd\ufffd\ufffd")");      // a surrogate
  CHECK(json("\xf4\x90\x80\x80").substr(0, 7) == R"("\ufffd)");  // beyond the last code point
}

TEST_CASE("json: numbers and members") {
  std::string out = "{";
  put_member(out, "least", std::int64_t{INT64_MIN});
  put_member(out, "most", std::uint64_t{UINT64_MAX});
  put_member(out, "text", std::string_view("x"));
  CHECK(out == R"({"least":-9223372036854775808,"most":18446744073709551615,"text":"x")");
}

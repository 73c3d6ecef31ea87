// SPDX-License-Identifier: Apache-2.0
// Lexer, preprocessor and parser as seen through messages and preprocessed text.
#include <catch2/catch.hpp>

#include <string>

#include "runtime/compile/compiler.hpp"

using vmrun::compile::compile_source;
using vmrun::compile::CompileOptions;

namespace {

std::string preprocess(const std::string& text) {
  CompileOptions options;
  options.only_preprocess = true;
  auto r = compile_source("t.erl", text, options);
  return r.messages + r.preprocessed;
}

std::string check(const std::string& text) {
  CompileOptions options;
  options.only_check = true;
  return compile_source("t.erl", "-module(t).\n-compile(export_all).\n" + text, options).messages;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("macros with arguments, overloads and stringification") {
  CHECK(preprocess("-define(A, 1).\n-define(A(X), {X, ??X}).\n-define(A(X,Y), X+Y).\nf() -> ?A + ?A(a b) - "
                   "?A(?A(1), 2).\n") == "f ( ) -> 1 + { a b, \"a b\" } - { 1, \"1\" } + 2.\n");
  CHECK(contains(preprocess("-define(A, ?B).\n-define(B, ?A).\nf() -> ?A.\n"), "circular macro 'A'"));
  CHECK(contains(preprocess("f() -> ?NOPE.\n"), "t.erl:1:8: error: undefined macro 'NOPE'"));
  CHECK(preprocess("f(_) -> {?FUNCTION_NAME, ?FUNCTION_ARITY, ?LINE, ?MODULE}.") ==
        "f ( _ ) -> { f, 1, 1, t }.\n");
}

TEST_CASE("conditional compilation") {
  CHECK(preprocess("-ifdef(X).\na.\n-else.\nb.\n-endif.\n") == "b.\n");
  CHECK(preprocess("-define(X, 3).\n-if(?X < 2).\na.\n-elif(?X =:= 3 andalso "
                   "defined(X)).\nb.\n-else.\nc.\n-endif.\n") == "b.\n");
  CHECK(contains(preprocess("-ifdef(X).\na.\n"), "t.erl:1:1: error: unterminated '-ifdef'"));
  CHECK(contains(preprocess("-endif.\n"), "'-endif' without"));
  CHECK(contains(preprocess("-error(\"no way\").\n"), "-error: no way"));
}

TEST_CASE("tokens") {
  CHECK(preprocess("f() -> {16#FF, 1_000, $\\n, $a, \"\\x{1F600}\\101\", 'a b', 2.5e3}.") ==
        "f ( ) -> { 255, 1000, $\\n, $a, \"\xF0\x9F\x98\x80"
        "A\", 'a b', 2.5e3 }.\n");
  CHECK(preprocess("a(\"\"\"\n   x \"y\" \\n\n    z\n   \"\"\").") ==
        "a ( \"x \\\"y\\\" \\\\n\\n z\"\n  ).\n");
  CHECK(contains(check("f() -> 37#1."), "illegal base '37'"));
  CHECK(contains(check("f() -> \"abc"), "unterminated string"));
  auto r = compile_source("t.erl", "f() ->\n  \"\xC3\xA9\xFF\".", {});
  CHECK(contains(r.messages, "t.erl:2:5: error: source is not valid UTF-8: byte 0xFF"));
}

TEST_CASE("syntax errors: several in one go, with the line and a caret") {
  std::string m = check("f() -> foo(1, 2 .\ng() -> ok.\nh() -> {1,2.\n");
  CHECK(contains(m,
                 "t.erl:3:17: error: syntax error before '.': expected ',' or ')'\n   3 | f() -> foo(1, 2 "
                 ".\n     |                 ^\n"));
  CHECK(contains(m, "t.erl:5:12: error: syntax error"));
  CHECK(contains(check("f() -> ok"), "the last form does not end with '.'"));
  CHECK(contains(check("f(1) -> ok;\ng(2) -> ok.\n"), "head mismatch"));
}

TEST_CASE("nesting is bounded") {
  for (std::string open :
       {"(", "[", "{", "<<", "#{a=>", "fun() -> ", "begin ", "not ", "- ", "1 + ", "catch ", "case "})
    CHECK(contains(check("f() -> " +
                         [&] {
                           std::string s;
                           for (int i = 0; i < 100000; i++) s += open;
                           return s;
                         }()),
                   "nesting too deep"));
}

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

TEST_CASE("the head of a function is expanded first, so that its name is known behind it") {
  CHECK(preprocess("-define(N, g).\n?N(X) -> {X, ?FUNCTION_NAME, ?FUNCTION_ARITY}.\n") ==
        "g ( X ) -> { X, g, 1 }.\n");
  CHECK(preprocess("-define(ARGS, (X, Y)).\ng ?ARGS -> ?FUNCTION_NAME, ?FUNCTION_ARITY.\n") ==
        "g ( X, Y ) -> g, 2.\n");
  CHECK(preprocess("-define(TWO, X, Y).\ng(?TWO) -> ?FUNCTION_ARITY.\n") == "g ( X, Y ) -> 2.\n");
  CHECK(preprocess("-define(F, f() -> ?FUNCTION_NAME).\n-define(E, ).\n?E ?F.\n") == "f ( ) -> f.\n");
  CHECK(preprocess("-define(W(X), X).\n?W(?W(f(_) -> {?FUNCTION_NAME, ?FUNCTION_ARITY})).\n") ==
        "f ( _ ) -> { f, 1 }.\n");
  CHECK(preprocess("-define(D(N, B), N() -> B).\n?D(f, {?FUNCTION_NAME, ?FUNCTION_ARITY}).\n") ==
        "f ( ) -> { f, 0 }.\n");
  CHECK(preprocess("f(?FUNCTION_NAME, ?FUNCTION_ARITY) -> 1.\n") == "f ( f, 2 ) -> 1.\n");
  CHECK(contains(preprocess("?FUNCTION_NAME() -> 1.\n"), "macro 'FUNCTION_NAME' used outside a function"));
  CHECK(contains(preprocess("-define(A, ?A).\n?A() -> 1.\n"), "2:1: error: circular macro 'A'"));
}

TEST_CASE("predefined macros may be undefined, and other versions of those of features defined") {
  CHECK(preprocess("-undef(MACHINE).\n-define(MACHINE, mine).\n?MACHINE.\n") == "mine.\n");
  CHECK(preprocess("-undef(MODULE).\n-define(MODULE, mine).\n?MODULE.\n") == "mine.\n");
  CHECK(contains(preprocess("-undef(MODULE).\nf() -> ?MODULE.\n"), "2:8: error: undefined macro 'MODULE'"));
  CHECK(preprocess(
            "-undef(LINE).\n-undef(FUNCTION_NAME).\n-define(LINE, a).\n-ifdef(FUNCTION_NAME).\na.\n-else.\n"
            "f() -> {?LINE, ?FUNCTION_NAME}.\n-endif.\n") == "f ( ) -> { 7, f }.\n");
  CHECK(preprocess("-define(FEATURE_ENABLED, a).\n{?FEATURE_ENABLED, ?FEATURE_ENABLED(none)}.\n") ==
        "{ a, false }.\n");
  CHECK(contains(preprocess("-define(FEATURE_ENABLED(X), X).\n"), "redefining predefined macro"));
  CHECK(contains(preprocess("-define(MODULE, a).\n"), "redefining predefined macro 'MODULE'"));
}

TEST_CASE("-feature stands in front of what it may change") {
  const std::string feature = "-feature(maybe_expr, enable).\n";
  const char* const refused = "2: error: feature directive not allowed after exports or record definitions";
  for (std::string before : {"-export([f/0]).", "-record(r, {}).", "-type t() :: a.", "-foo(a).", "f() -> 1.",
                             "-undef(X).", "-compile([])."}) {
    CAPTURE(before);
    CHECK(contains(preprocess(before + "\n" + feature), refused));
  }
  for (std::string before : {"-module(t).", "-define(X, 1).", "-moduledoc \"x\".", "-file(\"t.erl\", 1).",
                             "-ifdef(X).\n-export([f/0]).\n-endif.", "-feature(compr_assign, enable)."}) {
    CAPTURE(before);
    CHECK_FALSE(contains(preprocess(before + "\n" + feature), "error"));
  }
}

TEST_CASE("conditional compilation") {
  CHECK(
      contains(preprocess("-ifdef(X).\n-else.\n-endif(X).\n-endif.\n"), "3:1: error: badly formed '-endif'"));
  CHECK(contains(preprocess("-ifndef(X).\n-else(X).\n-endif.\n"), "2:1: error: badly formed '-else'"));
  CHECK(preprocess("-ifdef(X).\n-else(X).\nb.\n-endif.\n") == "b.\n");
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

// SPDX-License-Identifier: Apache-2.0
// What lint finds, by the message and place; each row is a module body without its header.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "runtime/compile/compiler.hpp"

using vmrun::compile::compile_source;
using vmrun::compile::CompileOptions;

namespace {

/// Messages of a module whose functions are exported; `header` takes lines 1 and 2.
std::string lint(const std::string& text) {
  CompileOptions options;
  options.only_check = true;
  return compile_source("t.erl", "-module(t).\n-compile([export_all, nowarn_export_all]).\n" + text, options)
      .messages;
}

struct Row {
  const char* text;
  const char* message;  // empty: none at all
};

}  // namespace

TEST_CASE("lint finds what erlc finds") {
  const Row rows[] = {
      {"f(X) -> Y = 1, X.", "t.erl:3:9: warning: variable 'Y' is unused"},
      {"f() -> Z.", "t.erl:3:8: error: variable 'Z' is unbound"},
      {"f() -> _.", "error: variable '_' is unbound"},
      {"f(A) -> case A of 1 -> C = 2; 2 -> ok end, C.",
       "3:44: error: variable 'C' unsafe in 'case' (line 3, column 9)"},
      {"f(A) -> case A of 1 -> C = 2; 2 -> C = 3 end, C.", ""},
      {"f(A) -> try B = A of _ -> B catch _ -> B end.", "3:40: error: variable 'B' unsafe in 'try'"},
      {"f(A) -> (catch B = A), B.", "unsafe in 'catch'"},
      {"f(A) -> A andalso (B = A), B.", "unsafe in 'andalso'"},
      {"f() -> {X = 1, X}.", "3:16: error: variable 'X' is unbound"},
      {"f(X) -> fun(X) -> X end.", "3:13: warning: variable 'X' shadowed in 'fun'"},
      {"f(X) -> [X || X <- []].", "shadowed in generate"},
      {"f() -> g(1).", "3:8: error: function g/1 undefined"},
      {"f() -> fun g/1.", "error: function g/1 undefined"},
      {"f() -> 1.\nf() -> 2.", "4:1: error: function f/0 already defined"},
      {"f(_) -> 1; f(2) -> 2.",
       "warning: this clause cannot match because a previous clause at line 3 always matches"},
      {"f() -> #r{}.", "3:8: error: record r undefined"},
      {"-record(r, {a}).\nf() -> #r{b = 1}.", "4:11: error: field b undefined in record r"},
      {"-record(r, {a}).\nf() -> #r{a = 1, a = 2}.", "error: field a already defined in record r"},
      {"-record(r, {a, a}).\nf() -> #r{}.", "error: field a already defined in record r"},
      {"f(X) when g(X) -> 1.\ng(_) -> true.",
       "error: call to local/imported function g/1 is illegal in guard"},
      {"f(X) when X = 1 -> 1.", "error: illegal guard expression"},
      {"f(g(1)) -> 1.", "error: illegal pattern"},
      {"f(#{a => 1}) -> 1.", "error: illegal pattern"},
      {"f() -> #{a := 1}.", "error: only association operators '=>' are allowed in map construction"},
      {"f(<<_/binary, _>>) -> 1.", "error: a binary field without size is only allowed at the end"},
      {"f(<<_:8/utf8>>) -> 1.", "error: neither size nor unit must be given"},
      {"f(<<N, X:N>>) -> X.", ""},
      {"f(N, <<X:N>>) -> X.", "error: variable 'N' is unbound"},
      {"f(X, Y) -> fun(Y, <<A:Y>>) -> {A, X, Y} end.", "shadowed in 'fun'"},
      {"f(K, #{K := V}) -> V.", "error: variable 'K' is unbound"},
      {"f(<<_:a>>) -> 1.",
       "3:7: warning: a size expression in a pattern evaluates to a non-integer value; this pattern cannot "
       "possibly match"},
      {"f(X) -> <<X:all>>.", "error: illegal bit size"},
      {"f(X) -> <<X:a>>.", ""},
      {"f(X) when list(X) -> 1.", "3:11: warning: list/1 obsolete (use is_list/1)"},
      {"-compile(nowarn_obsolete_guard).\nf(X) when list(X), atom(X) -> 1.", ""},
      {"f(X) when not list(X) -> 1.", "error: call to local/imported function list/1 is illegal in guard"},
      {"f(A) -> [X = A, X = 2].", ""},
      {"f(A) -> case A of 1 -> C = 2; 2 -> C = 3 end, C = A.",
       "3:47: warning: variable 'C' exported from 'case' (line 3, column 9)"},
      {"f(A) -> case A of 1 -> C = 2; 2 -> C = 3 end, g(C), C = A.\ng(X) -> X.", ""},
      {"f(_A) -> _A = 1.", "3:10: warning: variable '_A' is already bound."},
      {"f(_A, _A) -> 1.", "3:7: warning: variable '_A' is bound multiple times in this pattern."},
      {"-record(r, {a}).\nf(X) -> X#r{}.", ""},
      {"-optional_callbacks([ignore_me]).\nf() -> 1.", ""},
      {"length(X) -> X.\nf() -> length([]).",
       "4:8: warning: ambiguous call of overridden auto-imported BIF length/1"},
      {"-compile({no_auto_import,[length/1]}).\nlength(X) -> X.\nf() -> length([]).", ""},
      {"-spec f(integer()) -> X.\nf(_) -> 1.", "type variable 'X' is only used once"},
      {"-spec g() -> ok.\nf() -> 1.", "error: spec for undefined function g/0"},
      {"-type t() :: u().\nf() -> 1.", "error: type u() undefined"},
      {"f() -> io:format(\"~p ~p\", [1]).",
       "requires an argument list with 2 arguments, but the argument list contains only 1"},
      {"-behaviour(gen_server).\nf() -> 1.",
       "warning: undefined callback function init/1 (behaviour 'gen_server')"},
      {"f() -> 1.\n-export([f/0]).", "error: attribute export after function definitions"},
      {"f(X) -> receive Y -> ok after X -> Y = 1 end, Y.", ""},
      {"f(X) -> maybe {ok, Y} ?= X, Y else _ -> Y end.", "error: variable 'Y' unsafe in 'maybe'"},
      {"f(X) -> try X catch _:_:S when S =:= [] -> S end.", "must not be used in the guard"},
      {"f(X) -> if X > 1 -> Y = 1; true -> Y = 2 end, {X, Y}.", ""},
      {"f(_X) -> _Y = 1.", ""},
      {"f() -> x = 5.", "3:8: warning: no clause will ever match"},
      {"f() -> ok = f().", ""},
      {"f() -> 1 + \"a\".",
       "3:10: warning: evaluation of operator '+'/2 will fail with a 'badarith' exception"},
      {"f(X) -> if X > 1 -> 1; else -> 2 end.", "3:24: warning: this clause cannot match because its guard"},
  };
  for (const Row& row : rows) {
    std::string messages = lint(row.text);
    CAPTURE(row.text, messages);
    if (*row.message == 0) CHECK(messages.empty());
    else CHECK(messages.find(row.message) != std::string::npos);
  }
}

TEST_CASE("attributes and types are refused where erlc of OTP 29 refuses them") {
  const Row rows[] = {
      // The value of an attribute is a term.
      {"-foo(1 + 2).", "3:6: error: bad attribute 'foo'"},
      {"-foo({a, X}).", "3:6: error: bad attribute 'foo'"},
      {"-foo(- - 1).", "3:6: error: bad attribute 'foo'"},
      {"-foo(\"a\" ++ \"b\").", "3:6: error: bad attribute 'foo'"},
      {"-foo({a, 1/2}).", "3:6: error: bad attribute 'foo'"},
      {"-foo(#{a/1 => b}).", "3:6: error: bad attribute 'foo'"},
      {"-foo(#{a := b}).", "3:6: error: bad attribute 'foo'"},
      {"-foo(<<1:(4 + 4)>>).", "3:6: error: bad attribute 'foo'"},
      {"-compile(1 + 2).", "3:10: error: bad attribute 'compile'"},
      {"-dialyzer(1 + 2).", "3:11: error: bad attribute 'dialyzer'"},
      {"-foo([a/1, {b, c/2} | -1]).\n-foo(#{a => b/1}).\n-foo(<<-1, \"abc\", 1:16/little, 1.0/float>>).", ""},
      // Types.
      {"-type x() :: 1..a.", "3:14: error: bad range type"},
      {"-type x() :: 3..1.", "3:14: error: bad range type"},
      {"-type x() :: integer()..3.", "3:14: error: bad range type"},
      {"-type x() :: 1 bsl 200 .. a.", "3:16: error: bad range type"},
      {"-type x() :: a + 1.", "3:16: error: bad integer type"},
      {"-type x() :: 1 div 0 .", "3:16: error: bad integer type"},
      {"-type x() :: {-a}.", "3:15: error: bad integer type"},
      {"-type x() :: <<_:a>>.", "3:14: error: bad binary type"},
      {"-type x() :: <<_:_*(-8)>>.", "3:14: error: bad binary type"},
      {"-type x() :: <<_:8, _:8>>.", "3:23: error: syntax error before 8"},
      {"-type x() :: <<_:_*8, _:8>>.", "3:21: error: syntax error before ','"},
      {"-type x() :: 3..3 | -1..1 | 2 * 3 .. 1 bsl 3 | 1 bsl 200 .. 1 bsl 201.\n-export_type([x/0]).", ""},
      {"-type x() :: <<_:1+2, _:_*$a>>.\n-export_type([x/0]).", ""},
      {"-type t(_) :: a.", "3:9: error: the parameters of a type must be variables"},
      {"-type t(_A) :: a.\n-export_type([t/1]).", ""},
      // Specifications.
      {"-spec lists:map(a, b) -> c.", "3:2: error: spec for function lists:map/2 from other module"},
      {"-callback lists:g() -> ok.", "3:2: error: explicit module not allowed for callback lists:g/0"},
      {"-spec f(X) -> X when is_foo(X, integer()).", "3:22: error: unsupported constraint is_foo"},
      {"-spec f(X) -> X when is_subtype(a, b).", "3:33: error: bad type variable"},
      {"-spec f(X) -> X when _ :: a.", "3:22: error: bad type variable"},
      {"-spec f(X) -> X when is_subtype(X, integer()).\nf(X) -> X.", ""},
      // What attributes name is in the module.
      {"-optional_callbacks([nope/1]).", "3:2: error: callback nope/1 is undefined"},
      {"-callback g() -> a.\n-optional_callbacks([g/0, g/0]).",
       "4:2: error: optional callback g/0 duplicated"},
      {"-optional_callbacks([g/0]).\n-callback g() -> a.", ""},
      {"-dialyzer({nowarn_function, none/0}).", "3:2: error: function none/0 undefined"},
      {"-dialyzer([no_match, {no_return, [f/0]}]).\nf(X) -> X.",
       "3:2: error: function f/0 undefined, did you mean f/1?"},
      {"-dialyzer(foo).", "3:2: error: unknown dialyzer warning option: foo"},
      {"-dialyzer(nowarn_function).", "3:2: error: unknown dialyzer warning option: nowarn_function"},
      {"-dialyzer({nowarn_function, [f/0, 3]}).\nf() -> 1.",
       "3:2: error: badly formed dialyzer attribute: {nowarn_function,3}"},
      {"-dialyzer([no_match, {[no_return, nowarn_function], [f/0]}]).\nf() -> 1.", ""},
      {"-compile({inline, [g/0]}).", "3:2: error: inlined function g/0 undefined"},
      {"-compile([{nowarn_unused_function, g/0}]).", "3:2: error: function g/0 undefined"},
      {"-compile({nowarn_unused_record, [r]}).", "3:2: error: record r undefined"},
      {"-import(lists, [map/2]).\n-compile({inline, [map/2]}).\nf() -> map(a, b).", ""},
      {"-deprecated([{g, 0}]).", "3:2: error: deprecated function g/0 undefined or not exported"},
      {"-deprecated([{f, 0, soon}]).\nf() -> 1.", "3:2: error: badly formed deprecated attribute {f,0,soon}"},
      {"-removed([{f, 0}]).\nf() -> 1.", "3:2: error: removed function f/0 is still exported"},
      {"-removed([{f, '_'}]).\nf() -> 1.",
       "3:2: error: at least one function matching f/'_' is still exported"},
      {"-deprecated([{f, 0, \"use g\"}, {f, '_', eventually}, f/0]).\n-removed([{g, 0}, {h, '_', "
       "\"x\"}]).\nf() -> 1.",
       ""},
      {"-import(foo, [abs/1, min/2]).\n-compile({no_auto_import, [min/2]}).\nf() -> abs(1) + min(1, 2).",
       "3:2: warning: import directive overrides auto-imported BIF abs/1 - use "
       "\"-compile({no_auto_import,[abs/1]}).\""},
      {"-import(foo, [abs/1]).\n-compile({no_auto_import, [abs/1]}).\nf() -> abs(1).", ""},
      // Binaries and comprehensions.
      {"f(X) -> <<X:all>>.", "3:11: error: illegal bit size"},
      {"f(X) -> <<X:all/binary, X:all/bits, \"abc\"/binary>>.", ""},
      {"f(<<\"abc\":8>>) -> 1.",
       "3:5: error: a literal string in a binary pattern must not have a type or a size"},
      {"f(<<\"abc\"/little>>) -> 1.", "must not have a type or a size"},
      {"f(<<\"abc\", \"abc\"/utf8, \"a\"/utf16-little>>) -> 1.", ""},
      {"f() -> [X || X <- [1], Y = X, Y > 0].",
       "3:24: error: matches using '=' are not allowed in comprehension qualifiers unless the experimental "
       "'compr_assign' language feature is enabled"},
      {"f() -> [X || X <- [1] && Y = X].", "3:26: error: only generators are allowed in a zip generator"},
      {"f() -> [X || X <- [1], begin Y = X, true end, Y > 0].", ""},
  };
  for (const Row& row : rows) {
    std::string messages = lint(row.text);
    CAPTURE(row.text, messages);
    if (*row.message == 0) CHECK(messages.empty());
    else CHECK(messages.find(row.message) != std::string::npos);
    CHECK(messages.find("error: ") == messages.rfind("error: "));
  }
}

TEST_CASE("one mistake is reported once") {
  const Row rows[] = {
      {"f(X) when g(X) -> 1.", "3:11: error: call to local/imported function g/1 is illegal in guard"},
      {"f(X, Y) when X ! Y -> 1.", "3:16: error: illegal guard expression"},
      {"f(X) when case X of 1 -> true end -> 1.", "3:11: error: illegal guard expression"},
      {"f(X) when fun() -> X end -> 1.", "3:11: error: illegal guard expression"},
      {"f(X) when Y = X -> Y.", "3:13: error: illegal guard expression"},
      {"f(X) when lists:member(X, []) -> 1.", "3:11: error: illegal guard expression"},
      {"f(X) -> length(Y) = X, Y.", "3:9: error: illegal pattern"},
      {"f(#{a => Y}) -> Y.", "3:7: error: illegal pattern"},
      {"f(X) -> [Y || Y <= X].", "3:15: error: illegal pattern"},
      {"f(<<(g(Y))/binary>>) -> Y.", "3:6: error: illegal pattern"},
      {"-record(r, {a}).\nf(X) when X#r{a = 1} -> 1.", "4:12: error: illegal guard expression"},
      {"f(X) -> #nope{a = X}.", "3:9: error: record nope undefined"},
      {"f(Counter) -> Conter.", "3:15: error: variable 'Conter' is unbound, did you mean 'Counter'?"},
  };
  for (const Row& row : rows) {
    const std::string messages = lint(row.text);
    CAPTURE(row.text, messages);
    CHECK(messages.find(row.message) != std::string::npos);
    CHECK(messages.find("error: ") == messages.rfind("error: "));
    CHECK(messages.find("warning: ") == std::string::npos);
  }
  CompileOptions options;
  options.only_check = true;
  const std::string messages =
      compile_source("t.erl", "-module(t).\n-export([f/1]).\nf(X) when g(X) -> 1.\ng(_) -> true.\n", options)
          .messages;
  CHECK(messages.find("is unused") == std::string::npos);
}

TEST_CASE("unused functions, exports and module attribute") {
  CompileOptions options;
  options.only_check = true;
  auto check = [&](const std::string& text) { return compile_source("t.erl", text, options).messages; };
  CHECK(check("-module(t).\n-export([f/0]).\nf() -> 1.\ng() -> h().\nh() -> g().\n")
            .find("4:1: warning: function g/0 is unused") != std::string::npos);
  const std::string beside = check(
      "-module(t).\n-export([f/0]).\n-record(r, {a}).\n"
      "f() -> k(1), (.\ng() -> h().\nh() -> k(2).\ni() -> j().\nk(_) -> 1.\n");
  CHECK(beside.find("4:15: error: syntax error") != std::string::npos);
  CHECK(beside.find("5:1: warning: function g/0 is unused") != std::string::npos);
  CHECK(beside.find("6:1: warning: function h/0 is unused") != std::string::npos);
  CHECK(beside.find("7:8: error: function j/0 undefined") != std::string::npos);
  CHECK(beside.find("3:2: warning: record r is unused") != std::string::npos);
  CHECK(beside.find("function f/0") == std::string::npos);  // stands there, if in error
  CHECK(beside.find("function k/1") == std::string::npos);  // is used in what is in error
  const std::string headless = check("-module(t).\n-export([f/0]).\n-include(\"none.hrl\").\ng() -> h().\n");
  CHECK(headless.find("function g/0 is unused") != std::string::npos);
  CHECK(headless.find("undefined") == std::string::npos);  // all may be in the file that is missing
  CHECK(check("-module(t).\n-export([f/0]).\n").find("error: function f/0 undefined") != std::string::npos);
  CHECK(check("f() -> 1.\n").find("no module definition") != std::string::npos);
  options.script = true;
  CHECK(check("#!/usr/bin/env vmrun\nmain(_) -> 1.\n").empty());
}

TEST_CASE("-include_lib finds headers of an installed Erlang/OTP, behind its own") {
  char root[] = "/tmp/vmrun-headers-XXXXXX";
  REQUIRE(::mkdtemp(root) != nullptr);
  const std::string lib = std::string(root) + "/lib/";
  for (const char* folder : {"stdlib-4.2", "mine-1.9/include", "mine-1.10/include", "kernel-8.5/include"})
    std::filesystem::create_directories(lib + folder);
  std::ofstream(lib + "mine-1.9/include/m.hrl") << "-define(M, old).\n";
  std::ofstream(lib + "mine-1.10/include/m.hrl") << "-define(M, 1 +).\n";
  std::ofstream(lib + "kernel-8.5/include/file.hrl") << "not read.\n";
  CompileOptions options;
  options.only_check = true;
  options.otp_root = root;
  auto check = [&](const std::string& text) {
    return compile_source("t.erl", "-module(t).\n-export([f/0]).\n" + text, options).messages;
  };
  CHECK(check("-include_lib(\"mine/include/m.hrl\").\nf() -> ?M 1.\n").empty());
  CHECK(check("-include_lib(\"kernel/include/file.hrl\").\nf() -> #file_info{}.\n").empty());
  CHECK(check("-include_lib(\"mine/include/n.hrl\").\nf() -> 1.\n").find("can't find include lib") !=
        std::string::npos);
  options.otp_root = "none";
  CHECK(check("-include_lib(\"mine/include/m.hrl\").\nf() -> ?M 1.\n").find("can't find include lib") !=
        std::string::npos);
  std::filesystem::remove_all(root);
}

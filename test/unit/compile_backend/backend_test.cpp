// SPDX-License-Identifier: Apache-2.0
// The back end by its outcomes: what compiled modules compute on a stock erl, what its validator
// says of our assembly, and a few shapes of code that speed depends on. Without an erl the first
// two are left out, with a warning.
#include <catch2/catch.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "runtime/code_path/installed_otp.hpp"
#include "runtime/compile/compiler.hpp"

using vmrun::compile::CompileOptions;
using vmrun::compile::CompileResult;
namespace fs = std::filesystem;

namespace {

/// Compiles for a release; 0: for the installed one.
CompileResult compile(const std::string& name, const std::string& text, int release = 0) {
  CompileOptions options;
  if (release == 0) release = vmrun::installed_release("");
  if (release != 0) options.release = release;
  options.want_assembly = true;
  options.warnings = false;
  CompileResult r = vmrun::compile::compile_source(
      name + ".erl", "-module(" + name + ").\n-compile(export_all).\n" + text, options);
  INFO(r.messages);
  REQUIRE(r.ok);
  return r;
}

/// The instructions of one function.
std::string code_of(const CompileResult& r, const std::string& function) {
  auto at = r.assembly.find("{function, " + function + ",");
  REQUIRE(at != std::string::npos);
  auto end = r.assembly.find("{function, ", at + 1);
  return r.assembly.substr(at, end - at);
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) n++;
  return n;
}

bool have_erl() {
  static const bool yes =
      std::system("command -v erl >/dev/null 2>&1 && command -v erlc >/dev/null 2>&1") == 0;
  return yes;
}

struct Folder {
  fs::path path;
  Folder() {
    char pattern[] = "/tmp/backend_test.XXXXXX";
    path = mkdtemp(pattern);
  }
  ~Folder() { fs::remove_all(path); }
};

std::string output_of(const std::string& command) {
  std::string out;
  FILE* p = popen(("timeout -s KILL 60 " + command + " 2>&1").c_str(), "r");
  char buffer[4096];
  for (std::size_t n; (n = fread(buffer, 1, sizeof buffer, p)) > 0;) out.append(buffer, n);
  pclose(p);
  return out;
}

struct Snippet {
  const char* name;
  const char* text;    // defines t/0
  const char* expect;  // of io:format("~w", [t()])
};

const Snippet kSnippets[] = {
    {"t_order_of_clauses",
     "t() -> [f(A, B) || A <- [1, x, {1}], B <- [1, y]].\n"
     "f(1, y) -> a; f(_, 1) -> b; f(x, _) -> c; f({_}, Z) when Z =:= y -> d.",
     "[b,a,b,c,b,d]"},
    {"t_guards",
     "t() -> [f(X) || X <- [1, 1.0, a, [], {}, -1, <<>>, #{}]].\n"
     "f(X) when X > 0, is_integer(X); hd(X) =:= 1; is_float(X) -> num; f(X) when is_atom(X) orelse X == {} "
     "-> at;\n"
     "f(X) when not is_binary(X), (X =:= [] xor is_map(X)) -> other; f(_) -> none.",
     "[num,num,at,none,at,none,none,none]"},
    {"t_literals",
     "t() -> [f(X) || X <- [1.5, 1 bsl 70, \"abc\", \"abd\", {a, [1]}, {a, [2]}, 7]].\n"
     "f(1.5) -> 1; f(1180591620717411303424) -> 2; f(\"abc\") -> 3; f({a, [1]}) -> 4; f([_, _, $d]) -> 5; "
     "f({_, L}) -> L; f(_) -> 6.",
     "[1,2,3,5,4,[2],6]"},
    {"t_maps",
     "t() -> [f(#{a => 1, b => 2}), f(#{a => 2}), f(#{}), f(5), g(k, #{k => v}), catch h([])].\n"
     "f(#{a := 1, b := B}) -> B; f(#{a := A} = M) -> M#{a := A + 1, 0 => 0}; f(M) when is_map(M) -> M#{x => "
     "y}; f(_) -> no.\n"
     "g(K, M) -> #{K := V} = M, V.\nh(X) -> try X#{a => 1} catch error:E -> E end.",
     "[2,#{0 => 0,a => 3},#{x => y},no,v,{badmap,[]}]"},
    {"t_bits",
     "t() -> [f(B) || B <- [<<1, 2, 3>>, <<\"GET /x\">>, <<\"GEX\">>, <<2:4, 5:4, 6>>, <<3.5/float>>, "
     "<<\"\xC3\xA9\"/utf8>>, <<1:3>>, <<>>]].\n"
     "f(<<1, R/binary>>) -> R; f(<<\"GET \", P/binary>>) -> P; f(<<L:4, _:L, Rest/bitstring>>) when "
     "bit_size(Rest) < 11 -> {L, Rest};\n"
     "f(<<F/float>>) -> F; f(<<C/utf8>>) -> C; f(<<X:3>>) -> X; f(<<>>) -> empty; f(_) -> none.",
     "[<<2,3>>,<<47,120>>,none,{2,<<65,2:2>>},3.5,{12,<<>>},1,empty]"},
    {"t_contexts",
     "t() -> [s(<<1, 2, 3>>, 0), (catch s(<<1:4>>, 0)), w(<<\"  x\">>, []), c(<<1, 2>>)].\n"
     "s(<<C, T/binary>>, A) -> s(T, A + C); s(<<>>, A) -> A; s(B, _) -> {odd, B}.\n"
     "w(<<\" \", T/binary>>, A) -> w(T, [sp | A]); w(<<C, T/binary>>, A) -> [C | w(T, A)]; w(<<>>, A) -> A.\n"
     "c(B) -> << <<(X + 1)>> || <<X>> <= B >>.",
     "[6,{odd,<<1:4>>},[120,sp,sp],<<2,3>>]"},
    {"t_append",
     "t() -> B = l(1000, <<>>), {byte_size(B), binary:last(B), <<(x(1)):4, 5:4>>, <<1:16/little, "
     "2.0:32/float>>}.\n"
     "l(0, B) -> B; l(N, B) -> l(N - 1, <<B/binary, N>>).\nx(X) -> X.",
     "{1000,1,<<21>>,<<1,0,64,0,0,0>>}"},
    {"t_closures",
     "t() -> K = 10, F = fun G(0) -> K; G(N) -> 1 + G(N - 1) end, H = fun t2/1, {F(5), H(3), (fun "
     "lists:sum/1)([1, 2]), [X * K || X <- [1, 2], Y <- [a], Y =:= a]}.\n"
     "t2(X) -> {X}.",
     "{15,{3},3,[10,20]}"},
    {"t_exceptions",
     "t() -> [c(fun() -> X = id(1), X = id(2) end), c(fun() -> case id(3) of 4 -> ok end end), c(fun() -> if "
     "1 > 2 -> ok end end),\n"
     " c(fun() -> try id(5) of 6 -> ok catch _:_ -> no end end), c(fun() -> id(a) + 1 end), c(fun() -> "
     "throw(x) end), c(fun() -> (id(1))() end)].\n"
     "c(F) -> try F() catch error:E -> E; throw:T -> {t, T} after put(n, 1) end.\nid(X) -> X.",
     "[{badmatch,2},{case_clause,3},if_clause,{try_clause,5},badarith,{t,x},{badfun,1}]"},
    {"t_nested_try",
     "t() -> try try a(id(1)) after put(x, 1) end catch throw:{T, V} -> catch {T, V, get(x), try b(id(2)) "
     "catch error:_ -> z end} end.\n"
     "a(X) -> throw({q, X}).\nb(X) -> erlang:error(X).\nid(X) -> X.",
     "{q,1,1,z}"},
    {"t_receives",
     "t() -> S = self(), S ! c, S ! {b, 2}, S ! {a, 1}, R = make_ref(), S ! {R, ok}, receive {R, M} -> M "
     "end,\n"
     " A = receive {a, X} -> X end, B = receive {b, Y} when Y > 1 -> Y after 10 -> no end, C = receive c -> "
     "c after 0 -> none end,\n"
     " {M, A, B, C, receive _ -> more after 1 -> done end}.",
     "{ok,1,2,c,done}"},
    {"t_floats",
     "t() -> [f(3.0, 4), g(2, 1.5), catch f(a, 1.0)].\n"
     "f(X, Y) -> D = X * X + Y * Y * 1.0, {math:sqrt(D) / 2 + D * 0.5, D}.\ng(X, Y) -> A = X / 4, B = A + Y, "
     "C = B * A - 1, {A, B, C}.",
     "[{15.0,25.0},{0.5,2.0,0.0},{'EXIT',{badarith,"},
    {"t_registers",
     "t() -> f(1, 2, 3, 4, 5, 6).\nf(A, B, C, D, E, F) -> X = g(F, E, D), Y = g(C, B, A), Z = g(X, Y, {A, "
     "F}), h(Z, Y, X, F, E, D, C, B, A).\n"
     "g(A, B, C) -> {C, B, A}.\nh(A, B, C, D, E, F, G, H, I) -> [I, H, G, F, E, D, C, B, A].",
     "[1,2,3,4,5,6,{4,5,6},{1,2,3},{{1,6},{1,2,3},{4,5,6}}]"},
};

}  // namespace

TEST_CASE("compiled snippets compute the right thing on a stock erl, and its validator accepts them",
          "[backend]") {
  if (!have_erl()) {
    WARN("no erl here: left out");
    return;
  }
  Folder folder;
  std::string calls;
  for (const Snippet& s : kSnippets) {
    CompileResult r = compile(s.name, s.text);
    std::ofstream(folder.path / (std::string(s.name) + ".beam"), std::ios::binary)
        .write(reinterpret_cast<const char*>(r.beam.data()), static_cast<std::streamsize>(r.beam.size()));
    std::ofstream(folder.path / (std::string(s.name) + ".S")) << r.assembly;
    calls += std::string("P(") + s.name + "),";
  }
  const std::string in = "cd " + folder.path.string() + " && ";
  const std::string results = output_of(
      "sh -c '" + in + "erl -noshell -eval \"P = fun(M) -> io:format(\\\"~w: ~w~n\\\", [M, M:t()]) end, " +
      calls + " halt().\"'");
  for (const Snippet& s : kSnippets) {
    INFO(results);
    CHECK(results.find(std::string(s.name) + ": " + s.expect) != std::string::npos);
  }
  fs::create_directory(folder.path / "out");
  CHECK(output_of("sh -c '" + in + "erlc +from_asm -o out *.S'") == "");
}

TEST_CASE("tail calls are jumps without a frame", "[backend]") {
  auto r = compile("tail", "loop(0, A) -> A;\nloop(N, A) -> loop(N - 1, A + N).\n");
  auto code = code_of(r, "loop");
  CHECK(count(code, "{call_only,2,") == 1);
  CHECK(count(code, "allocate") == 0);
  CHECK(count(code, "{move,") == 2);
}

TEST_CASE("constants are selected, tuples tested by their tag, elements fetched only when used",
          "[backend]") {
  auto r = compile("select", "f(a) -> 1; f(b) -> 2; f(c) -> 3.\ng({point, X, _}) -> X.\nh([_ | T]) -> T.\n");
  CHECK(count(code_of(r, "f"), "select_val") == 1);
  CHECK(count(code_of(r, "f"), "is_eq_exact") == 0);
  auto g = code_of(r, "g");
  CHECK(count(g, "is_tagged_tuple") == 1);
  CHECK(count(g, "get_tuple_element") == 1);
  CHECK(count(code_of(r, "h"), "get_tl") == 1);
}

TEST_CASE("a loop over a binary passes its match context", "[backend]") {
  auto r = compile("context", "s(<<C, T/binary>>, A) -> s(T, A + C);\ns(<<>>, A) -> A.\n");
  auto code = code_of(r, "s");
  CHECK(count(code, "accepts_match_context") == 1);
  CHECK(code.find("bs_get_tail") > code.find("return"));  // only on the way to the error
}

TEST_CASE("whole units are tested by an instruction that the release has", "[backend]") {
  const std::string text = "f(<<_, T/binary>>) -> f(T); f(<<T:4/binary-unit:1, _/binary>>) -> T.\n";
  const std::string before = code_of(compile("units", text, 28), "f");
  CHECK(before.find("{test,bs_test_unit,") != std::string::npos);
  CHECK(before.find("bs_match,") == std::string::npos);
  const std::string since = code_of(compile("units", text, 29), "f");
  CHECK(since.find(",{commands,[{ensure_at_least,0,8}]}}.") != std::string::npos);
  CHECK(since.find("bs_test_unit") == std::string::npos);
}

TEST_CASE("a receive for a fresh reference uses a marker", "[backend]") {
  auto r = compile("marker", "call(P, M) -> R = make_ref(), P ! {R, self(), M}, receive {R, X} -> X end.\n");
  auto code = code_of(r, "call");
  CHECK(count(code, "recv_marker_reserve") == 1);
  CHECK(count(code, "recv_marker_bind") == 1);
  CHECK(count(code, "recv_marker_use") == 1);
}

TEST_CASE("floats between operations are not boxed", "[backend]") {
  auto r = compile("unboxed", "f(X, Y) -> X * 2.0 + Y * 0.5.\n");
  auto code = code_of(r, "f");
  CHECK(count(code, "gc_bif") == 0);
  CHECK(count(code, "{floats,1}") == 1);
}

// OTP's loader takes no other source for these instructions than a register.
TEST_CASE("a literal that is matched after all is taken apart by the compiler", "[backend]") {
  auto r = compile("literal", R"(
t() ->
    case case [] of V -> put(k, V), [[<<1, 2>>], [<<41>>]]; _ -> other end of
        _ when byte_size(<<0:288>>) > 100 -> one;
        [[<<X:16>>] | _] -> X
    end.
)");
  CHECK(count(code_of(r, "t"), "{get_") == 0);
}

TEST_CASE("a test that types decide is not made", "[backend]") {
  auto r =
      compile("typed",
              "-record(r, {a, b, c}).\n"
              "fields(R) -> X = R#r.a, Y = R#r.b, R#r{c = {X, Y}}.\n"
              "range(X) when is_integer(X) ->\n"
              "    Y = X band 255,\n"
              "    if Y < 256 -> a; is_atom(Y) -> b; true -> c end.\n"
              "truth(X, Y) -> B = X < Y, case B of true -> 1; false -> 2 end.\n"
              "made(X) -> T = {a, X}, case T of {a, Y} -> Y; _ -> other end.\n"
              "second(X) when element(1, X) =:= a, element(2, X) =:= b -> {element(1, X), element(2, X)}.\n"
              "same(X) when is_integer(X) -> X == 7.\n"
              "joined(X) -> Y = case X of 1 -> [a]; _ -> [b] end, hd(Y).\n"
              "unknown(X, Y) -> X == Y.\n");
  auto fields = code_of(r, "fields");
  CHECK(count(fields, "is_tagged_tuple") == 1);  // of three
  CHECK(count(fields, "badrecord") == 1);
  auto range = code_of(r, "range");
  CHECK(count(range, "{test,") == 1);  // that it is an integer
  CHECK(count(range, "{tr,{x,0},{t_integer,any}}") == 1);
  auto truth = code_of(r, "truth");
  CHECK(count(truth, "select_val") == 0);
  CHECK(count(truth, "is_eq_exact") == 1);
  CHECK(count(truth, "case_end") == 0);
  auto made = code_of(r, "made");
  CHECK(count(made, "{test,") == 0);
  CHECK(count(made, "other") == 0);
  auto second = code_of(r, "second");
  CHECK(count(second, "{bif,element,") == 2);  // of four
  CHECK(count(second, "get_tuple_element") == 2);
  CHECK(count(code_of(r, "same"), "'=:='") + count(code_of(r, "same"), "is_eq_exact") == 1);
  CHECK(count(code_of(r, "joined"), "{bif,hd") == 0);
  CHECK(count(code_of(r, "unknown"), "'=='") == 1);
}

TEST_CASE("types travel over calls within a module", "[backend]") {
  const std::string text =
      "start(N) -> sum([{1.0 * N, 2.0}, {3.0, 4.0}], 0.0).\n"
      "sum([{X, Y} | Rest], Acc) -> sum(Rest, Acc + X * Y);\n"
      "sum([], Acc) -> Acc.\n"
      "apart(X) -> {Y, Z} = pair(X), Y + Z.\n"
      "pair(X) -> {float(X), [X]}.\n";
  const auto compiled = [&](const std::string& attributes) {
    CompileOptions options;
    options.want_assembly = true;
    return vmrun::compile::compile_source("travel.erl", "-module(travel).\n" + attributes + text, options);
  };
  const auto sum = code_of(compiled("-export([start/1, apart/1]).\n"), "sum");
  CHECK(count(sum, "gc_bif") == 0);
  CHECK(count(sum, "fmul") + count(sum, "fadd") == 2);
  CHECK(count(sum, "{test,") == 1);  // is there one more?
  CHECK(count(code_of(compiled("-export([start/1, apart/1]).\n"), "apart"), "{test,") == 0);
  // Whoever may come from outside brings anything.
  CHECK(count(code_of(compiled("-export([start/1, sum/2, apart/1]).\n"), "sum"), "gc_bif") == 2);
  // A native function that takes its place returns anything.
  const auto native = compiled("-export([start/1, apart/1]).\n-nifs([pair/1]).\n");
  CHECK(count(code_of(native, "apart"), "{test,") == 2);
}

TEST_CASE("types are told in the file, and a stock erl shows them", "[backend]") {
  auto r = compile("told", "f(X) when is_integer(X) -> (X band 255) + 1.\ng(X) -> X.\n");
  const std::string beam(r.beam.begin(), r.beam.end());
  CHECK(beam.find("Type") != std::string::npos);
  auto plain = compile("untold", "g(X) -> X.\n");
  CHECK(std::string(plain.beam.begin(), plain.beam.end()).find("Type") == std::string::npos);
  if (!have_erl()) {
    WARN("no erl here: left out");
    return;
  }
  Folder folder;
  std::ofstream(folder.path / "told.beam", std::ios::binary) << beam;
  const std::string seen = output_of(
      "sh -c 'cd " + folder.path.string() +
      " && erl -noshell -eval \"io:format(\\\"~p~n\\\", [told:f(511)]), "
      "{beam_file, told, _, _, _, Fs} = beam_disasm:file(\\\"told.beam\\\"), "
      "io:format(\\\"~0p~n\\\", [[I || {function, f, 1, _, Is} <- Fs, {gc_bif, _, _, _, _, _} = I <- Is]]), "
      "halt().\"'");
  CHECK(seen.find("256\n") == 0);
  // The disassemblers of later releases refuse the types of OTP 25's own modules too.
  if (vmrun::installed_release("") == 25)
    CHECK(seen.find("{tr,{x,0},{{t_integer,any},0,255}}") != std::string::npos);
}

TEST_CASE("the stages between syntax and code can be read", "[backend]") {
  CompileOptions options;
  options.want_core = options.want_ssa = true;
  const auto r = vmrun::compile::compile_source(
      "stages.erl",
      "-module(stages).\n-export([f/2]).\nf([H | _], X) when H > X -> X band 7; f(_, X) -> f([X], X).\n",
      options);
  REQUIRE(r.ok);
  CHECK(r.assembly.empty());
  CHECK(r.core ==
        "module stages [f/2]\n"
        "\n"
        "f/2 =\n"
        "  fun (_@1, _@2) ->\n"
        "    case <_@1, _@2> of\n"
        "      <[H | _], X> when erlang:'>'(H, X) ->\n"
        "        erlang:band(X, 7)\n"
        "      <_, X@2> ->\n"
        "        f([X@2 | []], X@2)\n"
        "    else function_clause\n");
  CHECK(
      r.ssa.starts_with("f/2 (v0, v1)\n"
                        " b0 entry:\n"
                        "    test nonempty_list v0\n"));
  CHECK(count(r.ssa, "= get_hd v0\n") == 1);
  CHECK(count(r.ssa, " = bif band v1, 7\n") == 1);
  CHECK(count(r.ssa, " = call f/2 ") == 1);
}

// Quadratic work would run into the time limit of the whole program.
TEST_CASE("thousands of clauses compile to code of linear size", "[backend]") {
  std::string text, wild;
  for (int i = 0; i < 10000; i++) {
    text += (i > 0 ? ";\n" : "") + std::string("f({k") + std::to_string(i) + ", X}, Y) when X > Y -> " +
            std::to_string(i);
    wild += (i > 0 ? ";\n" : "") + std::string("g(") +
            (i % 2 ? "_, " + std::to_string(i) : std::to_string(i) + ", _") + ") -> " + std::to_string(i);
  }
  auto r = compile("large", text + ".\n" + wild + ".\n");
  CHECK(r.beam.size() < 4000000);
}

TEST_CASE("types travel through thousands of functions in linear time", "[backend]") {
  constexpr int kFunctions = 3000;
  const auto name = [](int i) { return "c" + std::to_string(i % kFunctions); };
  std::string chain = "-module(chain).\n-export([c0/1]).\n";
  for (int i = 0; i < kFunctions; i++)
    chain += name(i) + "(X) when X > " + std::to_string(i) + " -> " + name(i + 1) + "({X, " +
             name(i * 7 + 1) + "(1.5)});\n" + name(i) + "(X) -> [X].\n";
  CHECK(vmrun::compile::compile_source("chain.erl", chain, {}).beam.size() < 2000000);
}

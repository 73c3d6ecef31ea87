// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <condition_variable>
#include <mutex>
#include <random>
#include <string_view>

#include "runtime/bif/bifs_generated.hpp"
#include "runtime/compile/compiler.hpp"
#include "runtime/compile/emit/beam_writer.hpp"
#include "vm/code/code_server.hpp"
#include "vm/code/interpreter.hpp"
#include "vm/code/loader.hpp"
#include "vm/code/reclaim.hpp"
#include "vm/heap/literal.hpp"
#include "vm/lifecycle/spawn.hpp"
#include "vm/process/process_table.hpp"
#include "vm/sched/scheduler.hpp"
#include "vm/term/print.hpp"

using namespace vmrun;

namespace {

std::mutex result_mutex;
std::condition_variable result_arrived;
std::string result_text;
bool have_result = false;

Term bif_test_result(Process&, const Term* a) {
  std::lock_guard lock(result_mutex);
  result_text = term_text(a[0]);
  have_result = true;
  result_arrived.notify_all();
  return atoms::ok;
}
const BifRow kTestRows[] = {{"test", "result", 1, 0, 0, BifRow::kNever, BifRow::kNever, bif_test_result}};

void boot() {
  static const bool once = [] {
    init_literal_area();
    process_table.init(1 << 12);
    register_bifs(kBifRows, kBifRowCount);
    register_bifs(kTestRows, 1);
    SchedulerOptions options;
    options.schedulers = 1;
    options.run = interpret;
    start_schedulers(options);
    std::atexit([] { stop_schedulers(); });
    return true;
  }();
  (void)once;
}

std::vector<std::uint8_t> compiled(const std::string& name, const std::string& body, int release = 25) {
  compile::CompileOptions options;
  options.release = release;
  options.warnings = false;
  const auto r = compile::compile_source(name + ".erl",
                                         "-module(" + name + ").\n-compile(export_all).\n" + body, options);
  INFO(r.messages);
  REQUIRE(r.ok);
  return r.beam;
}

/// False: there is no old version.
bool purge(const char* name) {
  Module* old = take_old_module(intern_atom(name));
  if (old) retire_module(old);
  return old != nullptr;
}

/// Value of name:go() in a process of its own, as text; {class, reason} for exceptions.
std::string value_of(const std::string& name, const std::string& body) {
  boot();
  const auto beam = compiled(name, body + "\nstart() -> test:result(try go() catch C:R -> {C, R} end).\n");
  purge(name.c_str());
  const LoadResult loaded = load_module(kNonValue, beam.data(), beam.size(), name);
  INFO(loaded.message);
  REQUIRE(loaded.module);
  std::unique_lock lock(result_mutex);
  have_result = false;
  Arena arena;
  REQUIRE(spawn_process(nullptr, intern_atom(name), intern_atom("start"), Term::nil(), SpawnOptions{})
              .is_value());
  REQUIRE(result_arrived.wait_for(lock, std::chrono::seconds(60), [] { return have_result; }));
  return result_text;
}

}  // namespace

TEST_CASE("code: sources compute what they say") {
  struct {
    const char* body;
    const char* value;
  } const rows[] = {
      {"go() -> f(10). f(0) -> 1; f(N) -> N * f(N - 1).", "3628800"},
      {"go() -> [X + 1 || X <- id([1, 2, 3]), X /= 2]. id(X) -> X.", "[2,4]"},
      {"go() -> {id(a), {sel(b), sel(300), sel(1.5), sel(1 bsl 70), sel(9)}}. id(X) -> X. sel(a) -> 1; "
       "sel(b) -> 2; sel(300) -> 3; sel(1.5) -> 4; sel(1180591620717411303424) -> 5; sel(_) -> 6.",
       "{a,{2,3,4,5,6}}"},
      {"go() -> F = fun(X) -> fun(Y) -> {X, Y, id(X)} end end, (F(1))(2). id(X) -> X.", "{1,2,1}"},
      {"go() -> (id(fun(X) -> X end))(1, 2). id(X) -> X.", nullptr},
      {"go() -> hd(id([])). id(X) -> X.", "{error,badarg}"},
      {"go() -> f(c). f(a) -> 1; f(b) -> 2.", "{error,function_clause}"},
      {"go() -> {1, catch throw(x), catch exit(y), try error(z) of _ -> no catch error:R -> R after ok end}.",
       "{1,x,{'EXIT',y},z}"},
      {"go() -> nowhere:f(1).", "{error,undef}"},
      {"go() -> M = #{a => 1, b => id(2)}, #{b := V} = M, {V, M#{a := 3, c => 4}}. id(X) -> X.",
       "{2,#{a=>3,b=>2,c=>4}}"},
      {"go() -> B = <<1, 2:16/little, (id(<<\"hej\">>))/binary, 5:3>>, <<A, C:16/little, D:3/binary, "
       "R/bits>> = B, {A, C, D, R}. id(X) -> X.",
       "{1,2,<<\"hej\">>,<<5:3>>}"},
      {"go() -> self() ! one, self() ! two, receive two -> receive X -> {two, X} end end.", "{two,one}"},
      {"go() -> receive nothing -> 1 after 1 -> late end.", "late"},
      {"go() -> apply(erlang, element, [2, {a, b}]).", "b"},
      {"go() -> {576460752303423487 + id(1), -576460752303423488 - id(1), id(1 bsl 59) * id(1 bsl 59), "
       "id(-7) div 2, id(-7) rem 2}. id(X) -> X.",
       "{576460752303423488,-576460752303423489,332306998946228968225951765070086144,-3,-1}"},
      {"go() -> loop(100000, []). loop(0, L) -> length(L); loop(N, L) -> loop(N - 1, [{N, N} | L]).",
       "100000"},
  };
  int n = 0;
  for (const auto& row : rows) {
    const std::string value = value_of("t" + std::to_string(n++), row.body);
    INFO(row.body);
    if (row.value) CHECK(value == row.value);
    else CHECK(value.find("{error,{badarity,{#Fun<") == 0);
  }
}

TEST_CASE("code: a new version replaces the old one, which stays callable until purged") {
  CHECK(value_of("versions", "go() -> 1.") == "1");
  CHECK(value_of("versions", "go() -> 2.") == "2");
  CHECK(old_module(intern_atom("versions")) != nullptr);
  const auto third = compiled("versions", "go() -> 3.");
  CHECK(load_module(kNonValue, third.data(), third.size(), "v").reason == intern_atom("not_purged"));
  CHECK(purge("versions"));
  CHECK(load_module(kNonValue, third.data(), third.size(), "v").module != nullptr);
  CHECK(delete_module(intern_atom("versions")) == false);
}

TEST_CASE("code: a file that names another module is refused") {
  boot();
  const auto beam = compiled("named", "go() -> 1.");
  const LoadResult r = load_module(intern_atom("other"), beam.data(), beam.size(), "other.beam");
  CHECK(r.module == nullptr);
  CHECK(r.message == "other.beam: holds module named, not other");
}

TEST_CASE("code: damaged files are refused with their place, never crash") {
  boot();
  const auto beam = compiled(
      "damaged",
      "-record #r{a = 1.5, b}. go(X) -> {f(X), #{a => X}, <<X:16>>, fun() -> X end, r(#r{b = X})}. "
      "f([H | T]) -> [H | f(T)]; f([]) -> []. r(#r{a = X} = R) -> R#r{b = {X, R#r.b, #other:s{a = R}}}.");
  BeamFile file;
  BeamError error;
  REQUIRE(parse_beam(beam.data(), beam.size(), &file, &error));
  for (std::size_t n = 0; n < beam.size(); n += 3) {
    BeamFile cut;
    BeamError e;
    if (!parse_beam(beam.data(), n, &cut, &e)) CHECK(!e.message.empty());
  }
  std::mt19937 random(1);
  for (int i = 0; i < 3000; i++) {
    auto copy = beam;
    for (int k = 0; k < 3; k++) copy[random() % copy.size()] = static_cast<std::uint8_t>(random());
    BeamFile f;
    BeamError e;
    Module* m = parse_beam(copy.data(), copy.size(), &f, &e) ? build_module(f, &e) : nullptr;
    if (!m) CHECK(!e.message.empty());
    delete m;
  }
}

TEST_CASE("code: addresses lead to functions and lines") {
  boot();
  const auto beam = compiled("places", "go(X) ->\n  g(X).\ng(X) ->\n  erlang:error(X).\n");
  const LoadResult r = load_module(kNonValue, beam.data(), beam.size(), "places");
  REQUIRE(r.module);
  const Export* go = find_export(intern_atom("places"), intern_atom("go"), 1);
  REQUIRE(go);
  CHECK(is_defined(*go));
  const FunctionHeader* f = function_header_at(go->address.load());
  REQUIRE(f);
  CHECK(f->function == intern_atom("go"));
  CHECK(f->arity == 1);
  const std::string listing = disassemble(*r.module);
  CHECK(listing.find("places:go/1:") != std::string::npos);
  CHECK(listing.find("call_only") != std::string::npos);
}

namespace {

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) n++;
  return n;
}

}  // namespace

TEST_CASE("code: where types say small integers, operators look at nothing") {
  boot();
  const auto [release, version] = GENERATE(std::pair{25, 1}, std::pair{27, 3}, std::pair{29, 4});
  auto beam = compiled("typed",
                       "f(<<A, B>>) -> (A + B - 1) band 63.\n"
                       "g(X, Y) when is_integer(X), is_integer(Y) -> X + Y.\n",
                       release);
  const auto at = std::ranges::search(beam, std::string_view("Type")).begin() - beam.begin();
  CHECK(beam.at(static_cast<std::size_t>(at) + 11) == version);
  (void)purge("typed");
  const LoadResult r = load_module(kNonValue, beam.data(), beam.size(), "typed");
  REQUIRE(r.module);
  const std::string listing = disassemble(*r.module);
  INFO(listing);
  CHECK(count(listing, "plus_small") == 1);
  CHECK(count(listing, "minus_small") == 1);
  CHECK(count(listing, "band_small") == 1);
  CHECK(count(listing, " plus") == 0);
  CHECK(count(listing, "\tplus") == 2);  // the first, and that of integers of any size
}

TEST_CASE("code: types of an unknown version are not read, those of a known one are checked") {
  boot();
  const auto beam = compiled("typed_versions", "f(<<A, B>>) -> A + B.\n");
  const auto at =
      static_cast<std::size_t>(std::ranges::search(beam, std::string_view("Type")).begin() - beam.begin());
  REQUIRE(at < beam.size());
  auto other = beam;
  other[at + 11] = 9;  // the version
  const LoadResult untyped = load_module(kNonValue, other.data(), other.size(), "typed_versions");
  REQUIRE(untyped.module);
  CHECK(count(disassemble(*untyped.module), "plus_small") == 0);
  auto fewer = beam;
  fewer[at + 15] = 1;  // how many there are
  const LoadResult bad = load_module(kNonValue, fewer.data(), fewer.size(), "typed_versions");
  CHECK(!bad.module);
  CHECK(bad.message.find("does not exist") != std::string::npos);
}

namespace {

using compile::AsmInstr, compile::Bop;
using Asm = compile::Operand;

/// A module by hand.
class Assembly {
 public:
  explicit Assembly(const std::string& name) : name_(intern_atom(name)) {}

  std::uint32_t label() { return code_.labels++; }
  /// Begins an exported function; its func_info is at *clause.
  std::uint32_t function(const std::string& name, unsigned arity, std::uint32_t* clause = nullptr) {
    const Term atom = intern_atom(name);
    const std::uint32_t info = label(), entry = label();
    exports_.push_back({atom, arity});
    code_.funs.push_back({atom, arity, entry, 0, 0});
    place(info);
    op(Bop::kFuncInfo, {Asm::of(name_), Asm::of(atom), Asm::u(arity)});
    place(entry);
    if (clause) *clause = info;
    return entry;
  }
  void place(std::uint32_t label) { op(Bop::kLabel, {Asm::u(label)}); }
  void op(Bop op, std::vector<Asm> args) { code_.code.push_back({op, std::move(args)}); }
  Asm import(const char* module, const std::string& name, unsigned arity) {
    code_.imports.push_back({intern_atom(module), intern_atom(name), arity});
    return Asm::ext(static_cast<std::uint32_t>(code_.imports.size() - 1));
  }
  std::string beam() {
    op(Bop::kIntCodeEnd, {});
    compile::core::Module module{};
    module.name = name_;
    module.exports = exports_;
    return compile::write_beam(code_, module);
  }

 private:
  Term name_;
  compile::Code code_;
  std::vector<compile::core::Export> exports_;
};

LoadResult load(const std::string& beam, const char* name) {
  return load_module(kNonValue, reinterpret_cast<const std::uint8_t*>(beam.data()), beam.size(), name);
}

/// What a function does with the rest of a binary: once with the context of the match, which stands
/// for it, and once with the rest itself.
class OfRest {
 public:
  template <class Do>
  void add(Assembly& a, const std::string& name, Do&& does) {
    for (const bool as_context : {true, false}) {
      std::uint32_t clause;
      a.function(name + (as_context ? "_context" : "_rest"), 3, &clause);
      const Asm x0 = Asm::x(0), live = Asm::u(3);
      a.op(Bop::kBsStartMatch4, {Asm::of(intern_atom("no_fail")), live, x0, x0});
      a.op(Bop::kBsSkipBits2, {Asm::label(clause), x0, Asm::of(Term::small(8)), Asm::u(1), Asm::u(0)});
      if (!as_context) a.op(Bop::kBsGetTail, {x0, x0, live});
      does();
    }
    names += (names.empty() ? "" : ",") + ("'" + name + "'");
  }
  std::string names;
};

}  // namespace

TEST_CASE("code: a match context stands for the rest of its binary, whatever is done with it") {
  boot();
  Assembly a("contexts");
  OfRest of_rest;
  const Asm none = Asm::label(0), live = Asm::u(3), x0 = Asm::x(0), x1 = Asm::x(1), x2 = Asm::x(2);
  unsigned built_ins = 0;
  for (std::size_t i = 0; i < kBifRowCount; ++i) {
    const BifRow& row = kBifRows[i];
    if (std::string_view(row.module) != "erlang" || !(row.flags & BifRow::kGuard) || row.arity == 0) continue;
    ++built_ins;
    const Asm bif = a.import(row.module, row.name, row.arity);
    // First as each of its arguments.
    for (unsigned place = 0; place < row.arity; ++place)
      of_rest.add(a, std::string(row.name) + std::to_string(row.arity) + std::to_string(place), [&] {
        std::vector<Asm> args = {none, live, bif};
        for (unsigned n = 0; n < row.arity; ++n) args.push_back(n == place ? x0 : n < place ? x1 : x2);
        args.push_back(x0);
        a.op(row.arity == 1 ? Bop::kGcBif1 : row.arity == 2 ? Bop::kGcBif2 : Bop::kGcBif3, args);
        a.op(Bop::kReturn, {});
      });
  }
  CHECK(built_ins > 40);
  const struct {
    const char* name;
    Bop op;
    unsigned count;
  } tests[] = {{"test_lt", Bop::kIsLt, 2},
               {"test_ge", Bop::kIsGe, 2},
               {"test_eq", Bop::kIsEq, 2},
               {"test_ne", Bop::kIsNe, 2},
               {"test_eq_exact", Bop::kIsEqExact, 2},
               {"test_ne_exact", Bop::kIsNeExact, 2},
               {"test_binary", Bop::kIsBinary, 1},
               {"test_bitstr", Bop::kIsBitstr, 1},
               {"test_atom", Bop::kIsAtom, 1},
               {"test_list", Bop::kIsList, 1},
               {"test_tuple", Bop::kIsTuple, 1},
               {"test_map", Bop::kIsMap, 1},
               {"test_integer", Bop::kIsInteger, 1},
               {"test_float", Bop::kIsFloat, 1},
               {"test_fun", Bop::kIsFunction, 1},
               {"test_pid", Bop::kIsPid, 1},
               {"test_reference", Bop::kIsReference, 1}};
  for (const auto& test : tests)
    of_rest.add(a, test.name, [&] {
      const std::uint32_t otherwise = a.label();
      std::vector<Asm> args = {Asm::label(otherwise), x0};
      if (test.count == 2) args.push_back(x1);
      a.op(test.op, args);
      a.op(Bop::kMove, {Asm::of(atoms::true_), x0});
      a.op(Bop::kReturn, {});
      a.place(otherwise);
      a.op(Bop::kMove, {Asm::of(atoms::false_), x0});
      a.op(Bop::kReturn, {});
    });
  for (const Bop op : {Bop::kBadmatch, Bop::kCaseEnd, Bop::kTryCaseEnd, Bop::kBadrecord})
    of_rest.add(a, "raise" + std::to_string(static_cast<int>(op)), [&] { a.op(op, {x0}); });
  const struct {
    const char *module, *name;
    unsigned arity;
  } functions[] = {{"erlang", "term_to_binary", 1},
                   {"erlang", "iolist_size", 1},
                   {"erlang", "phash2", 1},
                   {"erlang", "phash", 2},
                   {"erlang", "binary_to_list", 1},
                   {"erlang", "iolist_to_binary", 1},
                   {"erlang", "md5", 1},
                   {"erlang", "crc32", 1},
                   {"erlang", "append", 2},
                   {"erlang", "atom_to_list", 1},
                   {"erlang", "setelement", 3},
                   {"erlang", "error", 1},
                   {"erlang", "throw", 1},
                   {"erlang", "monitor", 2},
                   {"binary", "part", 3},
                   {"binary", "split", 2},
                   {"binary", "copy", 1},
                   {"maps", "find", 2},
                   {"unicode", "characters_to_list", 1},
                   {"nowhere", "nothing", 2}};
  for (const auto& f : functions)
    of_rest.add(a, std::string(f.module) + "_" + f.name, [&] {
      a.op(Bop::kCallExtOnly, {Asm::u(f.arity), a.import(f.module, f.name, f.arity)});
    });
  of_rest.add(a, "send", [&] {  // a message is a copy
    a.op(Bop::kMove, {x0, x1});
    a.op(Bop::kBif0, {a.import("erlang", "self", 0), x0});
    a.op(Bop::kAllocate, {Asm::u(0), Asm::u(2)});
    a.op(Bop::kSend, {});
    const std::uint32_t again = a.label(), wait = a.label();
    a.place(again);
    a.op(Bop::kLoopRec, {Asm::label(wait), x0});
    a.op(Bop::kRemoveMessage, {});
    a.op(Bop::kDeallocate, {Asm::u(0)});
    a.op(Bop::kReturn, {});
    a.place(wait);
    a.op(Bop::kWait, {Asm::label(again)});
  });
  purge("contexts");
  const LoadResult loaded = load(a.beam(), "contexts");
  INFO(loaded.message);
  REQUIRE(loaded.module);
  // Long and short, with and without further bits, as the tail of a larger match.
  CHECK(value_of("contexts_compared",
                 "go() -> [{N, B, X, C, R} || N <- [" + of_rest.names +
                     "], B <- [<<1, 2, 3>>, <<7>>, <<1, 5:3>>, <<120:800>>, "
                     "<<9:1600, 1:1>>], X <- [1, <<2, 3>>, a, self()], "
                     "C <- [run(N, \"_context\", B, X)], R <- [run(N, \"_rest\", B, X)], C =/= R].\n"
                     "run(N, How, B, X) -> F = list_to_atom(atom_to_list(N) ++ How), "
                     "try contexts:F(B, X, {X}) catch Class:E:S -> {Class, E, without(hd(S), How)} end.\n"
                     "without({contexts, _, A, _}, _) -> {contexts, A}; without(H, _) -> H.\n") == "[]");
}

TEST_CASE("code: a loop in which no reductions are counted is refused") {
  boot();
  const struct {
    const char* name;
    void (*body)(Assembly&, std::uint32_t entry);
    bool loads;
  } rows[] = {
      {"jump to itself", [](Assembly& a, std::uint32_t entry) { a.op(Bop::kJump, {Asm::label(entry)}); },
       false},
      {"by a test",
       [](Assembly& a, std::uint32_t entry) {
         a.op(Bop::kIsAtom, {Asm::label(entry), Asm::x(0)});
         a.op(Bop::kReturn, {});
       },
       false},
      {"by values",
       [](Assembly& a, std::uint32_t entry) {
         const std::uint32_t other = a.label();
         a.op(Bop::kSelectVal,
              {Asm::x(0), Asm::label(other), Asm::list(2), Asm::of(atoms::true_), Asm::label(other)});
         a.place(other);
         a.op(Bop::kJump, {Asm::label(entry)});
       },
       false},
      {"by an exception",
       [](Assembly& a, std::uint32_t) {
         const std::uint32_t handler = a.label();
         a.op(Bop::kAllocate, {Asm::u(1), Asm::u(1)});
         a.place(handler);
         a.op(Bop::kTry, {Asm::y(0), Asm::label(handler)});
         a.op(Bop::kBadmatch, {Asm::x(0)});
       },
       false},
      {"through a timeout of 0",
       [](Assembly& a, std::uint32_t entry) {
         const std::uint32_t wait = a.label();
         a.op(Bop::kLoopRec, {Asm::label(wait), Asm::x(0)});
         a.op(Bop::kRemoveMessage, {});
         a.op(Bop::kReturn, {});
         a.place(wait);
         a.op(Bop::kWaitTimeout, {Asm::label(entry), Asm::of(Term::small(0))});
         a.op(Bop::kTimeout, {});
         a.op(Bop::kJump, {Asm::label(entry)});
       },
       false},
      {"a call",
       [](Assembly& a, std::uint32_t entry) {
         a.op(Bop::kCallOnly, {Asm::u(1), Asm::label(entry)});
       },
       true},
      {"a receive",
       [](Assembly& a, std::uint32_t entry) {
         const std::uint32_t wait = a.label();
         a.op(Bop::kLoopRec, {Asm::label(wait), Asm::x(0)});
         a.op(Bop::kLoopRecEnd, {Asm::label(entry)});
         a.place(wait);
         a.op(Bop::kWait, {Asm::label(entry)});
       },
       true},
      {"back, but not round",
       [](Assembly& a, std::uint32_t) {
         const std::uint32_t end = a.label(), first = a.label();
         a.op(Bop::kJump, {Asm::label(first)});
         a.place(end);
         a.op(Bop::kReturn, {});
         a.place(first);
         a.op(Bop::kJump, {Asm::label(end)});
       },
       true},
  };
  for (const auto& row : rows) {
    INFO(row.name);
    Assembly a("loops");
    row.body(a, a.function("go", 1));
    purge("loops");
    const LoadResult r = load(a.beam(), "loops");
    INFO(r.message);
    CHECK((r.module != nullptr) == row.loads);
    if (!row.loads) CHECK(r.message.find("loop of loops:go/1") != std::string::npos);
  }
}

TEST_CASE("code: an exception in a handler that has not ended its catch goes further out") {
  boot();
  Assembly a("handlers");
  const std::uint32_t body = a.label(), handler = a.label();
  a.function("go", 1);
  a.op(Bop::kAllocate, {Asm::u(1), Asm::u(1)});
  a.op(Bop::kTry, {Asm::y(0), Asm::label(handler)});
  a.place(body);
  a.op(Bop::kBadmatch, {Asm::of(atoms::ok)});
  a.place(handler);
  a.op(Bop::kJump, {Asm::label(body)});
  purge("handlers");
  const LoadResult r = load(a.beam(), "handlers");
  INFO(r.message);
  REQUIRE(r.module);
  // No loop: the second exception does not come to the handler again.
  CHECK(value_of("handlers_called", "go() -> try handlers:go(1) catch error:R -> R end.") == "{badmatch,ok}");
}

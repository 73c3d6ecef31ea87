#include <catch2/catch.hpp>
#include <condition_variable>
#include <mutex>
#include <random>

#include "runtime/bif/bifs_generated.hpp"
#include "runtime/compile/compiler.hpp"
#include "vm/code/code_server.hpp"
#include "vm/code/interpreter.hpp"
#include "vm/code/loader.hpp"
#include "vm/code/reclaim.hpp"
#include "vm/heap/literal.hpp"
#include "vm/lifecycle/spawn.hpp"
#include "vm/process/table.hpp"
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
const BifRow kTestRows[] = {{"test", "result", 1, 0, bif_test_result}};

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

std::vector<std::uint8_t> compiled(const std::string& name, const std::string& body) {
  compile::CompileOptions options;
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
      "go(X) -> {f(X), #{a => X}, <<X:16>>, fun() -> X end}. f([H | T]) -> [H | f(T)]; f([]) -> [].");
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
  auto beam = compiled("typed",
                       "f(<<A, B>>) -> (A + B - 1) band 63.\n"
                       "g(X, Y) when is_integer(X), is_integer(Y) -> X + Y.\n");
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
      static_cast<std::size_t>(std::search(beam.begin(), beam.end(), "Type", "Type" + 4) - beam.begin());
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

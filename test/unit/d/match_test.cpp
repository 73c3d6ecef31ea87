// SPDX-License-Identifier: Apache-2.0
#include "probes/d/descriptions/match.hpp"
#include "probes/d/descriptions/quoted_names.hpp"
#include "probes/engine/pattern.hpp"

#include <catch2/catch.hpp>

using namespace vmrun::d;
using namespace vmrun::d::lang;

namespace {

const std::vector<ProbeInfo> kMatched = {{"erlang42", "vmrun", "-", "message-send", {}},
                                         {"erlang42", "vmrun", "-", "message-receive", {}},
                                         {"erlang42", "vmrun", "-", "local-function-entry", {}},
                                         {"erlang42", "vmrun", "-", "global-function-entry", {}},
                                         {"erlang42", "vmrun", "-", "function-return", {}},
                                         {"erlang42", "vmrun", "-", "bif-entry", {}}};

/// A target whose module lists has reverse/1 and reverse/2.
std::size_t count_functions(const FunctionPattern& p) {
  if (!matches(p.module, "lists") || !matches(p.function, "reverse")) return 0;
  return p.arity < 0 ? 2 : p.arity == 1 || p.arity == 2;
}
const std::function<std::size_t(const FunctionPattern&)> kFunctions = count_functions;
const Matchable kThereIs{kMatched, kFunctions};

std::vector<std::uint32_t> found(const std::string& text, Source::Kind kind = Source::Kind::kName) {
  Program program;
  Matched matched;
  match(parse_description(text, kind, {}), kThereIs, program, matched);
  std::vector<std::uint32_t> out;
  for (const Enabled& e : matched.enabled) out.push_back(e.probe);
  return out;
}

using Numbers = std::vector<std::uint32_t>;
constexpr std::uint32_t kEntry = any_function_probe(FunctionEvent::kEntry),
                        kReturn = any_function_probe(FunctionEvent::kReturn),
                        kException = any_function_probe(FunctionEvent::kException);

}  // namespace

TEST_CASE("patterns of names") {
  CHECK(matches("", "anything"));
  CHECK(matches("*", ""));
  CHECK(matches("process-*", "process-spawn"));
  CHECK_FALSE(matches("process-*", "process"));
  CHECK(matches("*a*b*c", "xxaxxbxxc"));
  CHECK_FALSE(matches("*a*b*c", "xxaxxbxx"));
  CHECK(matches("?[a-c]x", "zbx"));
  CHECK_FALSE(matches("[!a-c]", "b"));
  CHECK(matches("[]]", "]"));
  CHECK(matches("[", "["));
  CHECK(matches("\\*", "*"));
  CHECK_FALSE(matches("\\*", "x"));
  const std::string nothing(kNothing);
  CHECK(matches(nothing, ""));
  CHECK_FALSE(matches(nothing, "a"));
  CHECK(matches("a" + nothing + "*" + nothing, "ab"));
  CHECK(matches("\\\\", "\\"));
  CHECK(matches("gr?ß[a-fü]", "größü"));
  CHECK_FALSE(matches("?", "日本"));
  CHECK(matches("?", "\xff"));
}

TEST_CASE("descriptions are filled from the right") {
  CHECK(found("message-send") == Numbers{0});
  CHECK(found("-:message-*") == Numbers{0, 1});
  CHECK(found("erlang*:::message-send") == Numbers{0});
  CHECK(found("erlang43:::message-send").empty());
  CHECK(found("erlang42", Source::Kind::kProvider) == Numbers{0, 1, 2, 3, 4, 5});
  CHECK(found("vmrun", Source::Kind::kModule).size() == 9);  // functions of a module of that name too
  CHECK(found("BEGIN") == Numbers{kBeginProbe});
  CHECK(found("dtrace:::") == Numbers{kBeginProbe, kEndProbe, kErrorProbe});
  CHECK(found("1") == Numbers{kBeginProbe});
  CHECK(found("5") == Numbers{1});
  CHECK_THROWS_AS(found("a:b:c:d:e"), Failure);
  CHECK_THROWS_AS(found("a[b:c:d"), Failure);
  CHECK_THROWS_AS(found("a:'b:c:d"), Failure);
  CHECK_THROWS_AS(found("a:'\\x{110000}':c:d"), Failure);
}

TEST_CASE("names in quotes are no patterns") {
  const auto parts = [](const std::string& text) {
    const Description d = parse_description(text, Source::Kind::kName, {});
    return d.provider + "|" + d.module + "|" + d.function + "|" + d.name;
  };
  CHECK(parts("erlang*:'my mod':'f g'/1:entry") == "erlang*|my mod|f g/1|entry");
  CHECK(parts("'a:b':'*':'a/1'/2:'[x'") == "a:b|\\*|a\\/1/2|\\[x");
  CHECK(parts("m:'it\\'s':'\\x{f6}\\s\\101\\\\':") == "m|it's|ö A\\\\|");
  CHECK(parts("m::x\\:y:'b'*") == "m||x\\:y|b*");
  FunctionPattern pattern;
  CHECK(functions_named(parse_description("m:'a/1'/2:entry", Source::Kind::kName, {}), pattern));
  CHECK(pattern.function == "a\\/1");
  CHECK(pattern.arity == 2);
  CHECK(functions_named(parse_description("m:'a/1':entry", Source::Kind::kName, {}), pattern));
  CHECK(pattern.arity == -1);
  CHECK(functions_named(parse_description("m:/3:entry", Source::Kind::kName, {}), pattern));
  CHECK(pattern.function.empty());
  CHECK(pattern.arity == 3);
}

TEST_CASE("names as descriptions write them") {
  for (const char* plain : {"lists", "Elixir.Enum", "a-b", "f@g", "größe", "日本"})
    CHECK(written_name(plain) == plain);
  CHECK(written_name("") == "''");
  CHECK(written_name("f g") == "'f g'");
  CHECK(written_name("valid?") == "'valid?'");
  CHECK(written_name("-f/2-fun-0-") == "'-f/2-fun-0-'");
  CHECK(written_name("it's \\ \n\x01") == "'it\\'s \\\\ \\n\\x01'");
  CHECK(written_pattern("") == "");
  CHECK(written_pattern("rev*[a-z]?") == "rev*[a-z]?");
  CHECK(written_pattern("my mod\\**") == "'my mod*'*");
  for (const std::string name :
       {"", "f g", "a:b", "*", "?", "[x]", "a/1", "it's", "\\", "\n\x7f\x01", "ö?", "'", "\\'"}) {
    const std::string text = "m:" + written_name(name) + "/1:entry";
    FunctionPattern pattern;
    REQUIRE(functions_named(parse_description(text, Source::Kind::kName, {}), pattern));
    CHECK(matches(pattern.function, name));
    CHECK(pattern.function == literal_pattern(name));
    CHECK(pattern.arity == 1);
    CHECK(written_pattern(literal_pattern(name)) == written_name(name));
  }
}

TEST_CASE("timers are made as they are named, once each") {
  Program program;
  Matched matched;
  const auto take = [&](const std::string& text) {
    return match(parse_description(text, Source::Kind::kName, {}), kThereIs, program, matched);
  };
  CHECK(take("profile:::tick-1s") == 1);
  CHECK(take("tick-1s") == 1);
  CHECK(take("profile-97") == 1);
  CHECK(take("tick-5sec") == 1);
  CHECK(take("wall-50") == 1);
  CHECK(take("tick-0") == 0);
  CHECK(take("tick-1ns") == 0);
  CHECK(take("tick-2parsec") == 0);
  REQUIRE(program.timers.size() == 4);
  CHECK(program.timers[0].interval_ns == 1'000'000'000);
  CHECK_FALSE(program.timers[0].profile);
  CHECK(program.timers[1].interval_ns == 10'309'278);
  CHECK(program.timers[1].profile);
  CHECK_FALSE(program.timers[1].wall);
  CHECK(program.timers[2].interval_ns == 5'000'000'000);
  CHECK(program.timers[3].interval_ns == 20'000'000);
  CHECK(program.timers[3].wall);
  REQUIRE(matched.enabled.size() == 4);
  CHECK(matched.enabled[2].probe == kFirstTimerProbe + 2);
}

TEST_CASE("functions by name") {
  Program program;
  Matched matched;
  const auto take = [&](const std::string& text) {
    return match(parse_description(text, Source::Kind::kName, {}), kThereIs, program, matched);
  };
  CHECK(take("erlang*:lists:reverse/2:entry") == 1);
  REQUIRE(matched.enabled.size() == 1);
  CHECK(matched.enabled[0].probe == kEntry);
  CHECK(matched.enabled[0].module == "lists");
  CHECK(matched.enabled[0].function == "reverse");
  CHECK(matched.enabled[0].arity == 2);
  CHECK(matched.probes[0]->of_function);
  CHECK(take("erlang*:lists:reverse/2:entry") == 1);
  CHECK(matched.enabled.size() == 1);
  CHECK(take("lists:reverse:") == 6);
  CHECK(matched.enabled.size() == 4);
  CHECK(take("l*:rev*:r*") == 2);
  // Those that no loaded function has are waited for; who compiles says whether that will do.
  CHECK(take("my_mod::return") == 0);
  CHECK(matched.enabled.back().module == "my_mod");
  CHECK(take("lists:reverse/300:entry") == 0);
  CHECK(take("lists:reverse/x:entry") == 0);
  CHECK(take("erlang43:lists:reverse:entry") == 0);
}

TEST_CASE("functions are meant where a module or a function is named, or the probe itself") {
  CHECK(found("entry") == Numbers{kEntry});
  CHECK(found("return") == Numbers{kReturn});
  CHECK(found("exception") == Numbers{kException});
  CHECK(found("*-entry") == Numbers{2, 3, 5});
  CHECK(found("*:*:*").size() == 6 + 3);  // BEGIN, END and ERROR have neither module nor function
  CHECK(found("erlang*:*:*:*").size() == 6);
  CHECK(found("lists", Source::Kind::kModule) == Numbers{kEntry, kReturn, kException});
  CHECK(found("reverse", Source::Kind::kFunction) == Numbers{kEntry, kReturn, kException});
}

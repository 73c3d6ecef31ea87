// SPDX-License-Identifier: Apache-2.0
#include "probes/views/view_settings.hpp"

#include <catch2/catch.hpp>

// The command line of a view and the script it makes.
using namespace vmrun::d;

namespace {

constexpr ViewOption kOptions[] = {
    {'d', "duration", OptionKind::kDuration, "", "how long"},
    {'n', "rows", OptionKind::kCount, "20", "rows"},
    {'m', "module", OptionKind::kWord, "", "module"},
    {'a', "all", OptionKind::kFlag, "", "everything"},
};
constexpr ViewScript kInstead[] = {{"module", "other.d", "${module}:x ${duration}\n${rows}\n"}};
constexpr ViewInfo kView = {
    .name = "some",
    .script_name = "some.d",
    .shown = "d",
    .purpose = "something",
    .script = "first\ntick-${duration}ns,\nEND ${rows}\n\n/* with -a ${all} */\na {\n}\n\nb\n",
    .options = kOptions,
    .tables = {},
    .instead = kInstead};

struct Read {
  Settings settings;
  std::string why;
  bool good;
  explicit Read(const std::vector<std::string>& words) { good = read_settings(kView, words, settings, why); }
};

}  // namespace

TEST_CASE("durations and counts of the command line") {
  std::int64_t n = 0;
  CHECK((read_duration("2", n) && n == 2'000'000'000));
  CHECK((read_duration("1.5s", n) && n == 1'500'000'000));
  CHECK((read_duration("10ms", n) && n == 10'000'000));
  CHECK((read_duration("5us", n) && n == 5'000));
  CHECK((read_duration("2m", n) && n == 120'000'000'000));
  CHECK((read_duration("0", n) && n == 0));
  for (const char* text : {"", "s", "-1", "1x", "1e30s", "99999999999999h", "0x10", "inf", "nan", "1 s"})
    CHECK_FALSE(read_duration(text, n));
  CHECK((read_count("20", n) && n == 20));
  CHECK((read_count("2m", n) && n == 2'000'000));
  CHECK_FALSE(read_count("2ms", n));
}

TEST_CASE("a line of the script without a value is left out") {
  CHECK(script_of(Read({}).settings) == "first\nEND 20\n\nb\n");
  CHECK(script_of(Read({"-d", "1ms"}).settings) == "first\ntick-1000000ns,\nEND 20\n\nb\n");
  CHECK(script_of(Read({"-d", "0"}).settings) == "first\nEND 20\n\nb\n");
}

TEST_CASE("a comment with an option that is not given takes its paragraph along") {
  CHECK(script_of(Read({"-a"}).settings) == "first\nEND 20\n\n/* with -a 1 */\na {\n}\n\nb\n");
}

TEST_CASE("an option may stand for another script") {
  CHECK(script_of(Read({"-d1ms", "-m", "lists", "-n", "3"}).settings) == "lists:x 1000000\n3\n");
}

TEST_CASE("what vmtrace takes is taken as it does") {
  const Read read({"-p", "12", "-o", "file", "-xaggsize=1m", "-a"});
  REQUIRE(read.good);
  CHECK(read.settings.line.pids == std::vector<std::string>{"12"});
  CHECK(read.settings.line.output == "file");
  CHECK(read.settings.line.options.size() == 1);
  CHECK(read.settings.text("all") == "1");
}

TEST_CASE("wrong words are said why") {
  CHECK(Read({"123"}).why == "123 is not wanted; did you mean -p 123?");
  CHECK(Read({"-z"}).why == "illegal option -- z");
  CHECK(Read({"--long"}).why == "illegal option -- --long");
  CHECK(Read({"-n"}).why == "option requires an argument -- n");
  CHECK(Read({"-n", "many"}).why == "-n wants a number, not many");
  CHECK(Read({"-m", "a\"b"}).why == "-m wants a word, not a\"b");
}

TEST_CASE("a name that is not quite right") {
  CHECK(view_like("topp") == "top");
  CHECK(view_like("something") == "");
  REQUIRE(find_view("top") != nullptr);
  CHECK(find_view("to") == nullptr);
}

TEST_CASE("scripts of all views have every line's options in them") {
  for (const ViewInfo& view : kViews) {
    Settings settings;
    std::string why;
    REQUIRE(read_settings(view, {}, settings, why));
    INFO(view.name);
    CHECK(script_of(settings).find("${") == std::string::npos);
  }
}

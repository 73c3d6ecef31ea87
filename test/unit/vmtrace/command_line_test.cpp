// SPDX-License-Identifier: Apache-2.0
#include "probes/vmtrace/command_line.hpp"

#include <catch2/catch.hpp>

// The command line of vmtrace.
using namespace vmrun::d;

namespace {

CommandLine parsed(const std::vector<std::string>& words) {
  CommandLine line;
  std::string why;
  REQUIRE(read_command_line(words, line, why));
  return line;
}

std::string refused(const std::vector<std::string>& words) {
  CommandLine line;
  std::string why;
  REQUIRE_FALSE(read_command_line(words, line, why));
  return why;
}

}  // namespace

TEST_CASE("letters stand together, the last with its value") {
  const CommandLine line = parsed({"-qs", "file.d", "one", "two"});
  REQUIRE(line.texts.size() == 1);
  CHECK(line.texts[0].option == 's');
  CHECK(line.texts[0].value == "file.d");
  CHECK(line.options == std::vector<std::pair<std::string, std::string>>{{"quiet", ""}});
  CHECK(line.arguments == std::vector<std::string>{"one", "two"});
  CHECK(parsed({"-sfile.d"}).texts[0].value == "file.d");
}

TEST_CASE("a probe's predicate and action may be words of their own") {
  const CommandLine line = parsed({"-n", "BEGIN", "/x/", "{ exit(0); }", "argument"});
  CHECK(line.texts[0].value == "BEGIN /x/ { exit(0); }");
  CHECK(line.arguments == std::vector<std::string>{"argument"});
}

TEST_CASE("options with and without a value, several of a kind") {
  const CommandLine line =
      parsed({"-x", "bufsize=4m", "-xquiet", "-b", "1m", "-p", "1", "-p2", "-DA=1", "-I", "d"});
  CHECK(line.options == std::vector<std::pair<std::string, std::string>>{
                            {"bufsize", "4m"}, {"quiet", ""}, {"bufsize", "1m"}});
  CHECK(line.pids == std::vector<std::string>{"1", "2"});
  CHECK(line.preprocessor == std::vector<std::string>{"-DA=1", "-Id"});
}

TEST_CASE("behind -- all are arguments") {
  CHECK(parsed({"-n", "BEGIN", "--", "-5"}).arguments == std::vector<std::string>{"-5"});
}

TEST_CASE("wrong usage") {
  CHECK(refused({"-J"}) == "illegal option -- J");
  CHECK(refused({"-q", "-s"}) == "option requires an argument -- s");
  CHECK(refused({"--nosuch"}) == "illegal option -- --nosuch");
  CHECK(refused({"--nod", "x"}) == "illegal option -- --nod; did you mean --node?");
  CHECK(refused({"--cokie=x"}) == "illegal option -- --cokie=x; did you mean --cookie?");
  CHECK(refused({"-help"}) == "option requires an argument -- p; did you mean --help?");
}

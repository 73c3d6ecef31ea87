// SPDX-License-Identifier: Apache-2.0
#include "probes/vmtrace/record_output.hpp"

#include <cstdio>
#include <cstring>

#include <catch2/catch.hpp>

#include <unistd.h>

// Records as a ring gives them, and the lines that dtrace prints for such.
using namespace vmrun::d;

namespace {

struct Words {
  std::vector<std::uint64_t> all;
  Words& action(std::uint32_t n) { return number(n); }
  Words& number(std::uint64_t n) {
    all.push_back(n);
    return *this;
  }
  Words& encoded(Encoding shape, const std::vector<std::uint64_t>& words) {
    number(static_cast<std::uint64_t>(shape) | words.size() * 8 << 32);
    all.insert(all.end(), words.begin(), words.end());
    return *this;
  }
  Words& text(std::string_view text) {
    number(static_cast<std::uint64_t>(Encoding::kText) | text.size() << 32);
    const std::size_t at = all.size();
    all.resize(at + (text.size() + 7) / 8);
    std::memcpy(all.data() + at, text.data(), text.size());
    return *this;
  }
};

struct Report {
  Script script;
  std::vector<ProbeInfo> probes{{"erlang7", "vmrun", "-", "message-send", {}}};
  Texts texts{[](NameKind kind, const std::vector<std::uint64_t>& numbers) {
    std::vector<std::string> names;
    for (const std::uint64_t n : numbers)
      if (kind == NameKind::kAddress) names.push_back(n == 16 ? "lists:map/2" : "");
      else names.push_back(n == 1 ? "lists" : n == 2 ? "'Odd one'" : "map");
    return names;
  }};

  std::uint32_t add(ActionKind kind, const std::string& format, std::vector<Field> fields) {
    ActionInfo a;
    a.kind = kind;
    a.format = format;
    a.fields = std::move(fields);
    script.actions.push_back(a);
    return static_cast<std::uint32_t>(script.actions.size() - 1);
  }
  std::string print(const Words& words, const ConsumerOptions& options = {},
                    std::uint32_t probe = kBeginProbe) {
    std::FILE* file = std::tmpfile();
    {
      Aggregates aggregates(script);
      Output output(
          script, options, file, aggregates, [] {}, [](int) { return true; });
      Record record{};
      record.probe = probe;
      output.record({&script, &probes, &texts, 7}, record, words.all);
      exit_status = output.exit_status();
    }
    char bytes[4000];
    const ssize_t size = pread(fileno(file), bytes, sizeof bytes, 0);
    std::fclose(file);
    return {bytes, static_cast<std::size_t>(size)};
  }
  std::optional<int> exit_status;
};

Field integer(std::uint8_t width = 8) {
  Field f;
  f.bytes = width;
  return f;
}
Field encoded(Field::Kind kind) {
  Field f;
  f.kind = kind;
  return f;
}

const std::string kHead = "CPU     ID                    FUNCTION:NAME\n";

}  // namespace

TEST_CASE("without -q: the heading, the columns, the end of the line") {
  Report r;
  const auto trace = r.add(ActionKind::kTrace, "", {integer(4)});
  CHECK(r.print(Words().action(trace).number(5)) ==
        kHead + "  0      1                           :BEGIN           5\n");
  CHECK(r.print(Words()) == kHead + "  0      1                           :BEGIN \n");
  CHECK(r.print(Words(), {}, 0) == kHead + "  0      4                   -:message-send \n");
}

TEST_CASE("-q: only what the script prints") {
  Report r;
  ConsumerOptions quiet;
  quiet.quiet = true;
  const auto hello = r.add(ActionKind::kPrintf, "hello %d\n", {integer(4)});
  CHECK(r.print(Words().action(hello).number(2), quiet) == "hello 2\n");
}

TEST_CASE("shapes become Erlang's texts") {
  Report r;
  ConsumerOptions quiet;
  quiet.quiet = true;
  const Field text = encoded(Field::Kind::kText);
  const auto p = r.add(ActionKind::kPrintf, "%s %s %s %s %s %s\n", {text, text, text, text, text, text});
  CHECK(r.print(Words()
                    .action(p)
                    .encoded(Encoding::kPid, {85, 3})
                    .encoded(Encoding::kPort, {9})
                    .encoded(Encoding::kFunction, {1, 3, 2})
                    .encoded(Encoding::kFunction, {2, 3, 0})
                    .encoded(Encoding::kNull, {})
                    .text("plain"),
                quiet) == "<0.85.3> #Port<0.9> lists:map/2 'Odd one':map/0 (null) plain\n");
}

TEST_CASE("a stack: a frame a line, or folded") {
  Report r;
  ConsumerOptions options;
  options.quiet = true;
  const auto stack = r.add(ActionKind::kUstack, "", {encoded(Field::Kind::kStack)});
  const Words words = Words().action(stack).encoded(Encoding::kStack, {255, 16, 254});
  CHECK(r.print(words, options) == "\n              0xff\n              lists:map/2\n");
  options.tables.folded = true;
  r.texts.stack_format = StackFormat::kFolded;
  CHECK(r.print(words, options) == "\nlists:map/2;0xff\n");
}

TEST_CASE("exit's status is kept") {
  Report r;
  const auto e = r.add(ActionKind::kExit, "", {integer(4)});
  r.print(Words().action(e).number(3));
  CHECK(r.exit_status == 3);
}

TEST_CASE("print shows types and members") {
  Report r;
  ConsumerOptions quiet;
  quiet.quiet = true;
  CType none, number, narrow, point;
  number.kind = CType::Kind::kInteger;
  number.name = "int";
  number.bytes = 4;
  number.is_signed = true;
  narrow = number;
  narrow.name = "unsigned int";
  narrow.is_signed = false;
  point.kind = CType::Kind::kStruct;
  point.name = "struct point";
  point.bytes = 8;
  point.members = {{"x", 1, 0, 0, 0}, {"y", 2, 4, 0, 0}};
  r.script.types = {none, number, narrow, point};
  Field f = encoded(Field::Kind::kBytes);
  f.type = 3;
  const auto p = r.add(ActionKind::kPrint, "", {f});
  CHECK(r.print(Words().action(p).encoded(Encoding::kBytes, {0x0000'0010'ffff'ffff}), quiet) ==
        "struct point {\n    int x = -1\n    unsigned int y = 0x10\n}");
  Field i = integer(4);
  i.type = 1;
  const auto q = r.add(ActionKind::kPrint, "", {i});
  CHECK(r.print(Words().action(q).number(static_cast<std::uint64_t>(-7)), quiet) == "int -7");
}

TEST_CASE("a record that is cut short, or of an unknown action, does no harm") {
  Report r;
  ConsumerOptions quiet;
  quiet.quiet = true;
  const auto p = r.add(ActionKind::kPrintf, "%s", {encoded(Field::Kind::kText)});
  CHECK(r.print(Words().action(p), quiet).empty());
  CHECK(r.print(Words().action(p).number(1000ULL << 32), quiet).empty());
  CHECK(r.print(Words().action(77), quiet).empty());
}

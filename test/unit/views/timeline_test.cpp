// SPDX-License-Identifier: Apache-2.0
#include "probes/views/timeline.hpp"

#include <map>
#include <sstream>

#include <catch2/catch.hpp>

using namespace vmrun::d;

namespace {

/// A value of an event's line, without quotes.
std::string member(const std::string& line, const std::string& name) {
  const auto at = line.find("\"" + name + "\":");
  if (at == std::string::npos) return "";
  const auto begin = at + name.size() + 3;
  if (line[begin] == '"') return line.substr(begin + 1, line.find('"', begin + 1) - begin - 1);
  return line.substr(begin, line.find_first_of(",}", begin) - begin);
}

struct Story {
  std::string out;
  Timeline timeline;
  std::uint64_t time = 1'000'000;
  std::uint32_t cpu = 1;
  std::map<std::string, ActionInfo> actions;

  explicit Story(std::uint64_t most = 1000) : timeline(out, most) {}

  bool take(const std::string& word, const std::vector<Value>& values, std::int64_t pid = 42) {
    ActionInfo& action = actions[word];
    action.kind = ActionKind::kPrintf;
    action.format = word + " %s\n";
    Record record{};
    record.timestamp = time += 1000;
    record.cpu = cpu;
    return timeline.take({record, pid}, action, values);
  }
  void run(const char* pid, const char* name = nullptr) {
    take("run", {Value::text(pid), Value::text(name ? name : pid), Value::text("t:loop/0"),
                 Value::text("t:loop/1")});
  }
  void stop(const char* pid) { take("stop", {Value::text(pid), Value::text("t:loop/1")}); }

  /// The lines of a phase. What every document keeps is checked: slices nest and end, times of a
  /// track do not go back, arrows lie in slices.
  std::vector<std::string> finish(const std::string& phase) {
    timeline.finish();
    std::vector<std::string> found;
    std::map<std::string, int> open;
    std::map<std::string, double> last;
    std::istringstream lines(out);
    for (std::string line; std::getline(lines, line);) {
      const std::string ph = member(line, "ph");
      if (ph.empty()) continue;
      const std::string track = member(line, "pid") + "/" + member(line, "tid");
      if (ph == phase) found.push_back(line);
      if (ph == "M") continue;
      const double ts = std::stod(member(line, "ts"));
      CHECK(ts >= last[track]);
      last[track] = ts;
      if (ph == "B" || ph == "b") ++open[track + (ph == "b" ? member(line, "id") : "")];
      if (ph == "E" || ph == "e") CHECK(--open[track + (ph == "e" ? member(line, "id") : "")] >= 0);
      if (ph == "s" || ph == "f") CHECK(open[track] > 0);
    }
    for (const auto& [track, n] : open) {
      INFO(track);
      CHECK(n == 0);
    }
    return found;
  }
};

std::vector<std::string> names(const std::vector<std::string>& lines) {
  std::vector<std::string> all;
  for (const std::string& line : lines) all.push_back(member(line, "name"));
  return all;
}

using List = std::vector<std::string>;

}  // namespace

TEST_CASE("timeline: a slice is on its process's track and on its scheduler's") {
  Story story;
  story.run("<0.1.0>", "worker");
  story.stop("<0.1.0>");
  CHECK(names(story.finish("B")) == List{"t:loop/1", "worker <0.1.0>", "waiting"});
}

TEST_CASE("timeline: a message is an arrow from where it was sent to where it was received") {
  Story story;
  story.run("<0.1.0>");
  story.take("send", {Value::text("<0.1.0>"), Value::text("<0.2.0>"), Value::integer(3), Value::integer(77)});
  story.stop("<0.1.0>");
  story.run("<0.2.0>");
  story.take("receive", {Value::text("<0.2.0>"), Value::integer(3), Value::integer(0), Value::integer(77)});
  story.take("receive", {Value::text("<0.2.0>"), Value::integer(3), Value::integer(0), Value::integer(78)});
  CHECK(story.finish("f").size() == 1);  // number 78 was sent before: no arrow ends that has not begun
}

TEST_CASE("timeline: the number of a message that is gone may be another one's") {
  Story story;
  for (int i = 0; i < 2; ++i)  // the first one is never received
    story.take("send",
               {Value::text("<0.1.0>"), Value::text("<0.2.0>"), Value::integer(3), Value::integer(7)});
  story.take("receive", {Value::text("<0.2.0>"), Value::integer(3), Value::integer(0), Value::integer(7)});
  const auto ends = story.finish("f");
  REQUIRE(ends.size() == 1);
  CHECK(member(ends[0], "id") == "0x2");
}

TEST_CASE("timeline: messages of two machines are not mistaken for each other") {
  Story story;
  for (const int pid : {42, 43})
    story.take("send", {Value::text("<0.1.0>"), Value::text("<0.2.0>"), Value::integer(3), Value::integer(7)},
               pid);
  const auto starts = story.finish("s");
  REQUIRE(starts.size() == 2);
  CHECK(member(starts[0], "id") != member(starts[1], "id"));
}

TEST_CASE("timeline: a collection lies in the slice it interrupts") {
  Story story;
  story.run("<0.1.0>");
  story.take("collect", {Value::text("<0.1.0>"), Value::text("minor"), Value::integer(12)});
  story.take("collected", {Value::text("<0.1.0>"), Value::integer(100)});
  story.stop("<0.1.0>");
  CHECK(names(story.finish("B"))[2] == "minor collection");
  CHECK(story.out.find("\"words reclaimed\":100") < story.out.find("\"waiting\""));
}

TEST_CASE("timeline: ends of what began before ends nothing else") {
  Story story;
  story.take("collected", {Value::text("<0.1.0>"), Value::integer(100)});
  story.stop("<0.1.0>");
  story.run("<0.1.0>");
  story.take("collected", {Value::text("<0.1.0>"), Value::integer(100)});
  story.take("file-done", {Value::integer(1), Value::integer(1), Value::integer(1), Value::integer(0)});
  story.take("port-exit", {Value::text("#Port<0.1>"), Value::text("normal")});
  story.take("send", {Value::text("<0.1.0>"), Value::text("<0.2.0>"), Value::integer(3), Value::integer(7)});
  CHECK(names(story.finish("B")) == List{"waiting", "t:loop/1", "t:loop/0 <0.1.0>", "send"});
}

TEST_CASE("timeline: beginnings that follow each other, as when records between them were dropped") {
  Story story;
  for (int i = 0; i < 3; ++i) story.run("<0.1.0>", "a");
  story.run("<0.2.0>", "b");
  for (int i = 0; i < 2; ++i)
    story.take("collect", {Value::text("<0.2.0>"), Value::text("major"), Value::integer(0)});
  story.take("file",
             {Value::integer(1), Value::integer(1), Value::integer(12), Value::text("a"), Value::text("b")});
  for (int i = 0; i < 2; ++i) story.take("file-work", {Value::integer(1), Value::integer(1)});
  story.take("port-open", {Value::text("#Port<0.1>"), Value::text("cat")});
  CHECK(story.finish("b").size() == 3);
}

TEST_CASE("timeline: a process that has exited waits for nothing") {
  Story story;
  story.take("spawn", {Value::text("<0.1.0>"), Value::text("<0.2.0>"), Value::text("t:init/1")});
  story.run("<0.2.0>");
  story.take("exit", {Value::text("<0.2.0>"), Value::text("normal")});
  story.stop("<0.2.0>");
  const auto begun = names(story.finish("B"));
  CHECK(std::find(begun.begin(), begun.end(), "waiting") == begun.end());
}

TEST_CASE("timeline: a process whose slice was used up is runnable, not waiting") {
  Story story;
  story.run("<0.1.0>");
  story.take("runnable", {Value::text("<0.1.0>")});
  story.stop("<0.1.0>");
  story.run("<0.1.0>");
  story.stop("<0.1.0>");
  story.take("runnable", {Value::text("<0.1.0>")});
  const auto begun = names(story.finish("B"));
  CHECK(begun[2] == "runnable");
  CHECK(begun[5] == "waiting");
  CHECK(begun[6] == "runnable");
}

TEST_CASE("timeline: who has waited runs, on whichever scheduler, or has handled a signal") {
  Story story;
  story.take("runnable", {Value::text("<0.1.0>")});
  story.take("running", {Value::text("<0.1.0>"), Value::integer(0)});
  story.take("runnable", {Value::text("<0.1.0>")});
  story.take("running", {Value::text("<0.1.0>"), Value::integer(1)});
  story.take("runnable", {Value::text("<0.1.0>")});
  story.take("running", {Value::text("<0.1.0>"), Value::integer(0)});
  story.run("<0.1.0>");
  CHECK(names(story.finish("B")) ==
        List{"runnable", "runnable", "on a dirty scheduler", "runnable", "t:loop/1", "t:loop/0 <0.1.0>"});
}

TEST_CASE("timeline: what the program says stands on its track") {
  Story story;
  story.run("<0.1.0>");
  story.take("mark", {Value::text("<0.1.0>"), Value::integer(7), Value::text("here")});
  Value absent = Value::text("");
  absent.is_null = true;
  story.take("mark", {Value::text("<0.1.0>"), Value::integer(8), absent});
  CHECK(names(story.finish("i")) == List{"here", "mark"});
}

TEST_CASE("timeline: no more than so many events; the others are counted") {
  Story story(2);
  CHECK_FALSE(story.timeline.is_full());
  for (int i = 0; i < 5; ++i) story.run("<0.1.0>");
  CHECK(story.timeline.is_full());
  CHECK(story.timeline.taken() == 2);
  CHECK(story.timeline.left_out() == 3);
  story.finish("B");
  CHECK(story.out.ends_with("\"otherData\":{\"events\":2,\"left out\":3,\"dropped\":0}}\n"));
}

TEST_CASE("timeline: other words, and too few values, are none of its own") {
  Story story;
  CHECK_FALSE(story.take("dance", {Value::text("x")}));
  CHECK_FALSE(story.take("run", {Value::text("x")}));
  CHECK(story.finish("B").empty());
}

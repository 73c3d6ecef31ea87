// SPDX-License-Identifier: Apache-2.0
#include "probes/vmtrace/consumer.hpp"

#include <cstdio>

#include <catch2/catch.hpp>

#include <unistd.h>

// The loop with a target whose rings are filled beforehand.
using namespace vmrun::d;

namespace {

class FilledTarget : public Target {
 public:
  const std::vector<ProbeInfo>& probes() const override { return probes_; }
  std::int64_t pid() const override { return 1; }
  bool open(const Program&, std::string&) override { return true; }
  bool begin(std::string&) override { return true; }
  std::uint64_t work(std::uint64_t) override {
    if (rounds != 0 && --rounds == 0) hidden = 0;
    return 0;
  }
  void end() override { ended = true; }
  std::vector<Ring*> rings() override {
    std::vector<Ring*> all;
    for (const auto& ring : rings_) all.push_back(ring.get());
    all.resize(all.size() - hidden);
    return all;
  }
  std::size_t rings_reported() override { return rings().size(); }
  std::vector<Element> aggregations() override { return std::exchange(elements, {}); }
  std::uint64_t drops(Drop kind) override { return kind == Drop::kAggregation ? aggregation_drops : 0; }
  bool exiting(int& status) override { return status = exit_status, rounds == 0; }
  Names names() override { return {}; }

  Ring& add_ring(std::uint64_t bytes) {
    const auto number = static_cast<std::uint32_t>(rings_.size());
    rings_.push_back(Ring::make(bytes, number, number, Options::Policy::kSwitch));
    return *rings_.back();
  }
  int exit_status = 0;
  bool ended = false;
  unsigned rounds = 0;     // of the loop until it ends
  std::size_t hidden = 0;  // the last rings, which are told of in the last round
  std::vector<Element> elements;
  std::uint64_t aggregation_drops = 0;

 private:
  std::vector<ProbeInfo> probes_;
  std::vector<std::unique_ptr<Ring>> rings_;
};

bool put(Ring& ring, std::uint64_t timestamp, std::uint64_t number) {
  std::uint64_t words[5] = {};
  auto& record = *reinterpret_cast<Record*>(words);
  record.bytes = sizeof words;
  record.timestamp = timestamp;
  record.probe = kBeginProbe;
  words[3] = 0;  // action
  words[4] = number;
  return ring.put(words, 5);
}

struct Run {
  Run() {
    auto made = std::make_unique<FilledTarget>();
    target = made.get();
    ActionInfo print;
    print.kind = ActionKind::kPrintf;
    print.format = "%d ";
    print.fields.resize(1);
    script.actions = {print};
    traced.push_back({std::move(made), std::make_unique<Script>(script), std::make_unique<Texts>(Names{})});
  }
  std::string text() {
    std::FILE* file = std::tmpfile();
    {
      ConsumerOptions quiet;
      quiet.quiet = true;
      Aggregates aggregates(script);
      Output output(
          script, quiet, file, aggregates, [] {}, [](int) { return true; });
      status = Consumer(traced, output, aggregates).run();
    }
    char bytes[1000];
    const ssize_t size = pread(fileno(file), bytes, sizeof bytes, 0);
    std::fclose(file);
    return {bytes, static_cast<std::size_t>(size)};
  }
  Script script;
  std::vector<Traced> traced;
  FilledTarget* target;
  int status = -1;
};

}  // namespace

TEST_CASE("records of several threads come in the order of their timestamps") {
  Run run;
  Ring &a = run.target->add_ring(4096), &b = run.target->add_ring(4096), &c = run.target->add_ring(4096);
  for (const std::uint64_t t : {1, 4, 5, 9}) REQUIRE(put(a, t, t));
  for (const std::uint64_t t : {2, 3, 8}) REQUIRE(put(b, t, t));
  for (const std::uint64_t t : {6, 7}) REQUIRE(put(c, t, t));
  CHECK(run.text() == "1 2 3 4 5 6 7 8 9 \n");
  CHECK(run.target->ended);
}

TEST_CASE("nothing is printed before all rings are there") {
  Run run;
  Ring &a = run.target->add_ring(4096), &b = run.target->add_ring(4096);
  REQUIRE(put(b, 1, 1));
  REQUIRE(put(a, 2, 2));
  a.announce(2);
  run.target->hidden = 1;
  run.target->rounds = 3;
  CHECK(run.text() == "1 2 \n");
}

TEST_CASE("the status of exit() is the consumer's") {
  Run run;
  run.target->exit_status = 5;
  CHECK(run.text() == "\n");
  CHECK(run.status == 5);
}

TEST_CASE("what does not fit is lost, what fits is printed") {
  Run run;
  Ring& ring = run.target->add_ring(1024);
  std::uint64_t n = 0;
  while (put(ring, n, n)) ++n;
  REQUIRE(n > 4);
  CHECK(ring.drops(Drop::kPrincipal) == 1);
  std::string expected;
  for (std::uint64_t i = 0; i < n; ++i) expected += std::to_string(i) + " ";
  CHECK(run.text() == expected + "\n");
}

TEST_CASE("a record that claims to be longer than what came ends its ring's batch") {
  Run run;
  Ring &a = run.target->add_ring(4096), &b = run.target->add_ring(4096);
  std::uint64_t words[3] = {};
  reinterpret_cast<Record*>(words)->bytes = 8;  // less than a head
  REQUIRE(a.put(words, 3));
  REQUIRE(put(b, 7, 7));
  CHECK(run.text() == "7 \n");
}

namespace {

/// What is written to standard error as long as it lives.
class StandardError {
 public:
  StandardError() : before_(dup(STDERR_FILENO)), file_(std::tmpfile()) { dup2(fileno(file_), STDERR_FILENO); }
  ~StandardError() {
    dup2(before_, STDERR_FILENO);
    close(before_);
    std::fclose(file_);
  }
  std::string text() const {
    char bytes[1000];
    return {bytes, static_cast<std::size_t>(pread(fileno(file_), bytes, sizeof bytes, 0))};
  }

 private:
  int before_;
  std::FILE* file_;
};

}  // namespace

TEST_CASE("drops are told once, those that no ring knows of too") {
  Run run;
  Ring& ring = run.target->add_ring(4096);
  for (int i = 0; i < 3; ++i) ring.drop(Drop::kAggregation);
  run.target->aggregation_drops = 10;
  const StandardError written;
  run.text();
  CHECK(written.text() == "vmtrace: 3 aggregation drops on CPU 0\nvmtrace: 7 aggregation drops on CPU 0\n");
}

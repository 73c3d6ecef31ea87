// SPDX-License-Identifier: Apache-2.0
#include "probes/print/merge.hpp"

#include <catch2/catch.hpp>

#include <cstring>
#include <memory>

using namespace vmrun::d;

namespace {

struct Streams {
  std::vector<std::unique_ptr<Ring>> rings;
  std::vector<std::unique_ptr<RecordStream>> all;

  explicit Streams(unsigned n) {
    for (unsigned i = 0; i < n; ++i) {
      rings.push_back(Ring::make(1024, i, i, Options::Policy::kSwitch));
      REQUIRE(rings.back());
      all.push_back(std::make_unique<RecordStream>(*rings.back()));
    }
  }
  void put(unsigned ring, std::uint64_t timestamp) {
    std::uint64_t words[4] = {0, 0, 0, timestamp * 10};
    const Record head{sizeof words, 0, 0, timestamp, 0, ring};
    std::memcpy(words, &head, sizeof head);
    REQUIRE(rings[ring]->put(words, 4));
  }
  void fill() {
    for (const auto& stream : all) stream->fill();
  }
  /// The timestamps, in the order in which merge hands records over.
  std::vector<std::uint64_t> merged(std::uint64_t until = ~std::uint64_t{0}) {
    std::vector<std::uint64_t> order;
    const bool any = merge(all, until, [&](RecordStream& stream) {
      const std::uint64_t timestamp = stream.head().timestamp;
      std::span<const std::uint64_t> body;
      REQUIRE(stream.pass(body));
      CHECK(std::vector(body.begin(), body.end()) == std::vector{timestamp * 10});
      order.push_back(timestamp);
    });
    CHECK(any == !order.empty());
    return order;
  }
};

using Times = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("records of several rings come in the order of their timestamps") {
  Streams s(3);
  for (const std::uint64_t t : {1, 2, 6, 7}) s.put(0, t);
  for (const std::uint64_t t : {3, 8}) s.put(1, t);
  for (const std::uint64_t t : {4, 5, 9}) s.put(2, t);
  s.fill();
  CHECK(s.merged() == Times{1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(s.merged().empty());
}

TEST_CASE("what is younger waits for the next time, and what came meanwhile goes before it") {
  Streams s(2);
  for (const std::uint64_t t : {1, 5, 9}) s.put(0, t);
  s.put(1, 2);
  s.fill();
  CHECK(s.merged(5) == Times{1, 2, 5});
  s.put(1, 7);
  s.fill();
  CHECK(s.merged() == Times{7, 9});
}

TEST_CASE("records with the same timestamp are all handed over, those of a ring in its order") {
  Streams s(2);
  for (const std::uint64_t t : {4, 4, 5}) s.put(0, t);
  for (const std::uint64_t t : {4, 5}) s.put(1, t);
  s.fill();
  CHECK(s.merged() == Times{4, 4, 4, 5, 5});
}

TEST_CASE("no rings, and rings with nothing in them") {
  CHECK(Streams(0).merged().empty());
  Streams s(2);
  s.fill();
  CHECK(s.merged().empty());
}

TEST_CASE("a record that led to one which is there is waited for") {
  Streams s(3);
  s.put(2, 7);
  unsigned round = 0;
  // What was put in a ring that was looked at already: round by round, as rings are filled.
  const auto find_new = [&] {
    if (++round == 2) s.put(1, 6);
    if (round == 3) s.put(0, 5);
    if (round == 4) s.put(0, 20);  // younger than asked for, so this round is the last
    REQUIRE(round <= 4);
  };
  CHECK(fill_all(s.all, 10, find_new));
  CHECK(round == 4);
  CHECK(s.merged(10) == Times{5, 6, 7});
  CHECK_FALSE(fill_all(s.all, 10, [] {}));
  CHECK(s.merged() == Times{20});
}

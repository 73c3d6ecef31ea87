// SPDX-License-Identifier: Apache-2.0
// Functions that wait to be compiled: what happens to them, and to their modules, meanwhile.
#include <catch2/catch.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "vm/hot/refusals.hpp"
#include "vm/hot/requests.hpp"
#include "vm/term/fun.hpp"

using namespace vmrun;

namespace {

/// What stands for a module here: one function, and something that only the module frees.
struct Loaded {
  static constexpr std::size_t kWords = 64;
  Word words[kWords] = {};
  std::unique_ptr<Word> literal = std::make_unique<Word>(17);

  const FunctionHeader* function() const { return reinterpret_cast<const FunctionHeader*>(words); }
  Module* module() { return reinterpret_cast<Module*>(this); }
  const Word* end() const { return words + kWords; }
  Requests::Request request() { return {function(), module()}; }
};

void begin(Requests& requests, Loaded& l) {
  requests.add(l.request());
  CHECK(requests.begin().function == l.function());
  requests.has_read(l.function(), l.end());
}

}  // namespace

TEST_CASE("Code of a function that is changed while it is compiled is thrown away, and no other") {
  Requests requests;
  Loaded l, other;
  begin(requests, l);
  CHECK(requests.holds(l.function()));
  requests.changed(other.words + 8);
  requests.changed(l.end());
  CHECK(!requests.end().is_changed);
  begin(requests, l);
  requests.changed(l.words + 8);
  CHECK(requests.end().is_changed);
  CHECK(requests.idle());
  // It has been read to be inlined.
  begin(requests, l);
  requests.has_read(other.function(), other.end());
  requests.changed(other.words + 8);
  CHECK(requests.end().is_changed);
  begin(requests, l);
  requests.changed(other.words + 8);
  CHECK(!requests.end().is_changed);
  requests.changed(l.words + 8);
}

TEST_CASE("A module that goes takes its requests with it, and stays while its function is compiled") {
  Requests requests;
  Loaded l, other;
  requests.add(other.request());
  requests.add(l.request());
  CHECK(requests.forget(*l.module()));
  CHECK(!requests.holds(l.function()));
  CHECK(requests.waiting() == 1);
  CHECK(requests.begin().function == other.function());
  requests.has_read(other.function(), other.end());
  CHECK(requests.forget(*l.module()));
  CHECK(!requests.forget(*other.module()));
  CHECK(!requests.idle());
  const Requests::Outcome outcome = requests.end();
  CHECK(outcome.is_changed);
  CHECK(outcome.left == std::vector{other.module()});
  CHECK(requests.idle());
}

TEST_CASE("So does a module whose function is inlined") {
  Requests requests;
  Loaded l, other;
  begin(requests, l);
  requests.has_read(other.function(), other.end());
  requests.reads(other.module());
  CHECK(!requests.forget(*other.module()));
  CHECK(!requests.forget(*l.module()));
  const Requests::Outcome outcome = requests.end();
  CHECK(outcome.is_changed);
  CHECK(outcome.left == std::vector{other.module(), l.module()});
  begin(requests, l);
  CHECK(requests.forget(*other.module()));
  CHECK(!requests.end().is_changed);
}

TEST_CASE("No more than so many functions wait") {
  Requests requests;
  std::vector<Loaded> many(Requests::kMost);
  for (Loaded& l : many) {
    CHECK(!requests.is_full());
    requests.add(l.request());
  }
  CHECK(requests.is_full());
}

// With thread sanitizer this shows as well that nothing is read while it is changed or freed.
TEST_CASE("Threads change, delete and load modules while another compiles their functions") {
  constexpr std::size_t kModules = 4;
  Requests requests;
  std::mutex mutex;
  Loaded* current[kModules];
  for (Loaded*& l : current) l = new Loaded;
  std::atomic<bool> ends{false};
  std::atomic<unsigned> wrong{0}, compiled{0}, thrown_away{0};
  std::thread compiler([&] {
    std::unique_lock lock(mutex);
    while (!ends) {
      if (requests.empty()) {
        lock.unlock();
        std::this_thread::yield();
        lock.lock();
        continue;
      }
      const Requests::Request r = requests.begin();
      auto& l = *reinterpret_cast<const Loaded*>(r.module);
      requests.has_read(l.function(), l.end());
      const Word version = l.words[0];
      lock.unlock();
      if (*l.literal != 17) ++wrong;
      std::this_thread::yield();
      lock.lock();
      const auto [is_changed, left] = requests.end();
      if (!is_changed && l.words[0] != version) ++wrong;
      ++(is_changed ? thrown_away : compiled);
      if (left.empty()) continue;
      lock.unlock();
      delete reinterpret_cast<Loaded*>(left.front());
      lock.lock();
    }
  });
  const auto changes = [&](unsigned seed) {
    std::mt19937 random(seed);
    while (compiled < 300 || thrown_away < 300) {
      const std::lock_guard lock(mutex);
      Loaded*& l = current[random() % kModules];
      switch (random() % 8) {
        case 0:
          requests.changed(l->words);
          ++l->words[0];
          break;
        case 1:
          if (requests.forget(*l->module())) delete l;
          l = new Loaded;
          break;
        default:
          if (!requests.holds(l->function()) && !requests.is_full()) requests.add(l->request());
      }
    }
  };
  std::thread others[] = {std::thread(changes, 1), std::thread(changes, 2)};
  for (std::thread& t : others) t.join();
  ends = true;
  compiler.join();
  CHECK(wrong == 0);
  for (Loaded* l : current) delete l;
}

TEST_CASE("Of what has been refused the newest is kept, each once, and all are counted") {
  Refusals refusals;
  const auto one = [](unsigned arity, NoCode why) {
    return Refusals::Refusal{Term::nil(), Term::nil(), arity, why};
  };
  for (unsigned n = 0; n < 2 * Refusals::kMost; ++n) refusals.add(one(n, NoCode::kPlaces));
  CHECK(refusals.last().size() == Refusals::kMost);
  CHECK(refusals.last().front() == one(2 * Refusals::kMost - 1, NoCode::kPlaces));
  CHECK(refusals.last().back() == one(Refusals::kMost, NoCode::kPlaces));
  refusals.add(one(Refusals::kMost, NoCode::kPlaces));
  CHECK(refusals.last().size() == Refusals::kMost);
  CHECK(refusals.last().front() == one(Refusals::kMost, NoCode::kPlaces));
  refusals.add(one(0, NoCode::kNoRoom));
  CHECK(refusals.counts()[static_cast<std::size_t>(NoCode::kPlaces)] == 2 * Refusals::kMost + 1);
  CHECK(refusals.counts()[static_cast<std::size_t>(NoCode::kNoRoom)] == 1);
}

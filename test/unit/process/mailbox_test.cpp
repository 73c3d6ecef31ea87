// SPDX-License-Identifier: Apache-2.0
// The mailbox under many producers: nothing lost, order kept per sender, exactly one waker per
// wait.
#include <catch2/catch.hpp>

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "vm/process/mailbox.hpp"
#include "vm/term/term.hpp"

using namespace vmrun;

namespace {

Fragment* message(SWord value) {
  Fragment* f = Fragment::create(0);
  f->message = Term::small(value);
  return f;
}

}  // namespace

TEST_CASE("Messages of one sender stay in order") {
  Mailbox m;
  UnderWay signals;
  for (int i = 0; i < 10; ++i) REQUIRE(m.push(message(i)) == PushResult::kQueued);
  REQUIRE(m.length() == 10);
  Fragment* f = m.take_arrivals(signals);
  REQUIRE(m.inner_count() == 10);
  for (int i = 0; i < 10; ++i) {
    REQUIRE(f->message == Term::small(i));
    Fragment* next = f->next;
    Fragment::destroy(f);
    f = next;
  }
  REQUIRE(f == nullptr);
}

TEST_CASE("Messages are linked at once where nothing but messages has come") {
  Mailbox m;
  UnderWay signals;
  m.append(message(0));
  REQUIRE_FALSE(m.notify());
  REQUIRE(m.take_messages(signals));  // a notice
  for (int i = 1; i < 4; ++i) REQUIRE(m.push_message(message(i)) == PushResult::kQueued);
  REQUIRE(m.take_messages(signals));
  REQUIRE(m.inner_count() == 4);
  REQUIRE_FALSE(m.has_arrivals());
  Fragment* signal = message(5);
  signal->kind = static_cast<std::uint32_t>(SignalKind::kWakeUp);
  REQUIRE(m.push_message(message(4)) == PushResult::kQueued);
  REQUIRE(m.push(signal) == PushResult::kQueued);
  REQUIRE_FALSE(m.take_messages(signals));
  REQUIRE(m.inner_count() == 4);
  REQUIRE(m.outer_count() == 1);
  Fragment* f = m.take_arrivals(signals);
  REQUIRE(signals.handling());
  m.link(std::exchange(f, f->next));
  REQUIRE(f == signal);
  Fragment::destroy(f);
  f = m.first;
  for (int i = 0; i < 5; ++i) {
    REQUIRE(f->message == Term::small(i));
    Fragment* next = f->next;
    Fragment::destroy(f);
    f = next;
  }
  REQUIRE(f == nullptr);
}

TEST_CASE("More messages than the mailbox's word can count are counted") {
  constexpr int kMany = 200'000;
  Mailbox m;
  UnderWay signals;
  for (int i = 0; i < kMany; ++i) REQUIRE(m.push(message(i)) == PushResult::kQueued);
  REQUIRE(m.outer_count() == 65535);
  REQUIRE(m.exact_length() == kMany);
  Fragment* f = m.take_arrivals(signals);
  REQUIRE(m.inner_count() == kMany);
  REQUIRE(m.exact_length() == kMany);
  for (int i = 0; i < kMany; ++i) {
    if (f->message != Term::small(i)) FAIL("out of order");
    Fragment* next = f->next;
    Fragment::destroy(f);
    f = next;
  }
  REQUIRE(f == nullptr);
}

TEST_CASE("A mailbox's word takes addresses of 48 bits") {
  constexpr std::uintptr_t kHighest = (std::uintptr_t{1} << 48) - 16;
  REQUIRE(Mailbox::in_word(kHighest) == kHighest);
}

TEST_CASE("A parked mailbox asks for one wake, a closed one refuses") {
  Mailbox m;
  REQUIRE(m.park());
  REQUIRE(m.push(message(1)) == PushResult::kWakeOwner);
  REQUIRE(m.push(message(2)) == PushResult::kQueued);
  REQUIRE_FALSE(m.park());
  Fragment* f = m.close();
  while (f) {
    Fragment* next = f->next;
    Fragment::destroy(f);
    f = next;
  }
  Fragment* refused = message(3);
  REQUIRE(m.push(refused) == PushResult::kClosed);
  Fragment::destroy(refused);
  REQUIRE_FALSE(m.notify());
}

TEST_CASE("A notice wakes without a message and keeps the owner from parking") {
  Mailbox m;
  UnderWay signals;
  REQUIRE_FALSE(m.notify());
  REQUIRE_FALSE(m.park());
  REQUIRE(m.take_arrivals(signals) == nullptr);
  REQUIRE(m.park());
  REQUIRE(m.notify());
  REQUIRE_FALSE(m.notify());
}

TEST_CASE("A producer that looks finds all its messages counted while the owner takes them") {
  constexpr Word kMany = 200'000;
  Mailbox m;
  UnderWay signals;
  std::atomic<bool> over{false};
  const bool at_once = GENERATE(false, true);
  std::thread owner([&] {
    while (!over.load()) {
      if (at_once && m.take_messages(signals)) continue;
      for (Fragment* f = m.take_arrivals(signals); f;) {
        Fragment* next = f->next;
        m.link(f);
        f = next;
      }
    }
  });
  Word wrong = 0;
  for (Word n = 1; n <= kMany; ++n) {
    REQUIRE(m.push(message(0)) == PushResult::kQueued);
    const Word told = m.length_now();
    if (told != Mailbox::kUnknown) wrong += told != n;
  }
  over = true;
  owner.join();
  CHECK(wrong == 0);
  // On a busy machine the owner may have been in the middle of taking messages at every look.
  CHECK(m.exact_length() == kMany);
  for (Fragment* f = m.close(); f;) Fragment::destroy(std::exchange(f, f->next));
  for (Fragment* f = m.first; f;) Fragment::destroy(std::exchange(f, f->next));
}

TEST_CASE("Many producers against one consumer that parks whenever it has nothing") {
  constexpr int kProducers = 6, kEach = 20000;
  Mailbox m;
  UnderWay signals;
  std::atomic<int> wakes{0};  // handed over by a producer, consumed by the owner
  std::vector<std::thread> producers;
  for (int t = 0; t < kProducers; ++t)
    producers.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i)
        if (m.push(message(t * kEach + i)) == PushResult::kWakeOwner)
          wakes.fetch_add(1, std::memory_order_release);
    });
  std::vector<int> next(kProducers, 0);
  int received = 0;
  while (received < kProducers * kEach) {
    Fragment* f = m.take_arrivals(signals);
    if (!f) {
      if (!m.park()) continue;
      while (wakes.load(std::memory_order_acquire) == 0) std::this_thread::yield();
      REQUIRE(wakes.fetch_sub(1, std::memory_order_acquire) == 1);
      continue;
    }
    while (f) {
      const int value = static_cast<int>(f->message.small_value());
      if (next[value / kEach] != value % kEach) FAIL("out of order");
      ++next[value / kEach];
      ++received;
      Fragment* rest = f->next;
      Fragment::destroy(f);
      f = rest;
    }
  }
  for (auto& t : producers) t.join();
  REQUIRE(m.inner_count() == static_cast<Word>(received));
  REQUIRE(wakes == 0);
}

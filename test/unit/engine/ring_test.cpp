// SPDX-License-Identifier: Apache-2.0
#include "probes/engine/ring.hpp"

#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <random>
#include <thread>

#include "test/unit/engine/support.hpp"

using namespace vmrun::d;
using namespace vmrun::d::test;

namespace {

std::vector<std::uint64_t> record(std::size_t words, std::uint64_t number) {
  std::vector<std::uint64_t> all(words, number);
  const Record head{static_cast<std::uint32_t>(words * 8), 1, 0, number, 2, 3};
  std::memcpy(all.data(), &head, sizeof head);
  return all;
}

bool put(Ring& ring, std::size_t words, std::uint64_t number) {
  return ring.put(record(words, number).data(), words);
}

// Another process that writes random words all over the ring's memory, most often where the head
// is, until it is ended. It has begun when the constructor returns.
class Scribbler {
 public:
  explicit Scribbler(const Ring& ring) {
    const std::size_t words = (4096 + ring.capacity_bytes()) / 8;
    auto* memory = static_cast<std::uint64_t*>(
        mmap(nullptr, words * 8, PROT_READ | PROT_WRITE, MAP_SHARED, ring.descriptor(), 0));
    REQUIRE(memory != MAP_FAILED);
    const std::uint64_t before = memory[words - 1];
    child_ = fork();
    REQUIRE(child_ >= 0);
    if (child_ == 0) scribble(memory, words);
    while (__atomic_load_n(&memory[words - 1], __ATOMIC_RELAXED) == before) std::this_thread::yield();
    munmap(memory, words * 8);
  }
  ~Scribbler() {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  Scribbler(const Scribbler&) = delete;

 private:
  [[noreturn]] static void scribble(std::uint64_t* memory, std::size_t words) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // it ends with the test, however that ends
    std::mt19937_64 random(1);
    auto write = [&](std::size_t at) {
      // Small numbers, numbers near what is there, and any number.
      const std::uint64_t n = random();
      const std::uint64_t value = n % 3 == 0 ? n >> 52 : n % 3 == 1 ? memory[at] + (n >> 58) - 32 : n;
      __atomic_store_n(&memory[at], value, __ATOMIC_RELAXED);
    };
    for (;;) {
      write(words - 1);
      for (int i = 0; i < 200; ++i) write(random() % 32);
      for (int i = 0; i < 50; ++i) write(512 + random() % (words - 512));
    }
  }
  pid_t child_;
};

}  // namespace

TEST_CASE("what is put is taken, in order") {
  auto ring = Ring::make(1, 5, 77, Options::Policy::kSwitch);
  REQUIRE(ring != nullptr);
  CHECK(ring->capacity_bytes() == 1024);
  CHECK(ring->number() == 5);
  CHECK(ring->tid() == 77);
  std::vector<std::uint64_t> out;
  for (std::uint64_t i = 0; i < 1000; ++i) {  // around several times
    REQUIRE(put(*ring, 3 + i % 7, i));
    REQUIRE(put(*ring, 3 + i % 5, i));
    out.clear();
    CHECK(ring->take(out) == 6 + i % 7 + i % 5);
    const auto all = split(out);
    REQUIRE(all.size() == 2);
    CHECK(all[0].head.timestamp == i);
  }
  CHECK(ring->empty());
  CHECK(ring->take(out) == 0);
}

TEST_CASE("what does not fit is dropped as a whole, and counted") {
  auto ring = Ring::make(1024, 0, 0, Options::Policy::kSwitch);
  for (std::uint64_t i = 0; i < 12; ++i) REQUIRE(put(*ring, 10, i));
  CHECK_FALSE(put(*ring, 10, 99));
  CHECK(put(*ring, 8, 12));
  CHECK_FALSE(put(*ring, 3, 99));
  CHECK(ring->drops(Drop::kPrincipal) == 2);
  CHECK_FALSE(ring->is_full());
  std::vector<std::uint64_t> out;
  CHECK(ring->take(out) == 128);
  CHECK(split(out).size() == 13);
  CHECK_FALSE(put(*ring, 129, 1));
  ring->drop(Drop::kDynamic);
  CHECK(ring->drops(Drop::kDynamic) == 1);
}

TEST_CASE("a reader takes whole records, however little it asks for") {
  auto ring = Ring::make(4096, 0, 0, Options::Policy::kSwitch);
  for (std::uint64_t i = 0; i < 20; ++i) put(*ring, 9, i);
  std::vector<std::uint64_t> out;
  CHECK(ring->take(out, 1) == 9);
  CHECK(ring->take(out, 20) == 18);
  CHECK(ring->take(out) == 17 * 9);
  CHECK(split(out).back().head.timestamp == 19);
}

TEST_CASE("policy ring keeps what is newest, policy fill what is oldest") {
  auto ring = Ring::make(1024, 0, 0, Options::Policy::kRing);
  for (std::uint64_t i = 0; i < 100; ++i) REQUIRE(put(*ring, 3 + i % 10, i));
  CHECK_FALSE(put(*ring, 200, 1));
  std::vector<std::uint64_t> out;
  ring->take(out);
  const auto all = split(out);
  CHECK(all.back().head.timestamp == 99);
  for (std::size_t i = 1; i < all.size(); ++i) CHECK(all[i].head.timestamp == all[i - 1].head.timestamp + 1);
  CHECK(out.size() > 110);

  auto fill = Ring::make(1024, 0, 0, Options::Policy::kFill);
  for (std::uint64_t i = 0; i < 100; ++i) put(*fill, 10, i);
  CHECK(fill->is_full());
  out.clear();
  fill->take(out);
  CHECK(split(out).back().head.timestamp == 11);
}

TEST_CASE("another process reads what is put meanwhile") {
  auto ring = Ring::make(4096, 3, 9, Options::Policy::kSwitch);
  constexpr std::uint64_t kRecords = 20000;
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::string why;
    auto mine = Ring::map(dup(ring->descriptor()), why);
    if (mine == nullptr || mine->number() != 3) _exit(1);
    std::uint64_t expected = 0;
    std::vector<std::uint64_t> out;
    while (expected < kRecords) {
      out.clear();
      if (mine->take(out, 100) == 0) std::this_thread::yield();
      for (std::size_t at = 0; at < out.size(); at += static_cast<std::uint32_t>(out[at]) / 8)
        if (out[at + 1] != expected++) _exit(2);
    }
    _exit(0);
  }
  for (std::uint64_t i = 0; i < kRecords; ++i)
    while (!put(*ring, 3 + i % 20, i)) std::this_thread::yield();
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(status == 0);
}

TEST_CASE("the size of the memory cannot be changed, and other files are no rings") {
  auto ring = Ring::make(4096, 0, 0, Options::Policy::kSwitch);
  CHECK(ftruncate(ring->descriptor(), 0) == -1);
  CHECK(ftruncate(ring->descriptor(), 1 << 20) == -1);
  std::string why;
  CHECK(Ring::map(open("/dev/null", O_RDWR), why) == nullptr);
  CHECK(why == "this is not a ring");
  const int other = memfd_create("other", MFD_ALLOW_SEALING);
  const std::uint64_t head[4] = {0x33474e5244, 512};
  REQUIRE(write(other, head, sizeof head) == sizeof head);
  CHECK(Ring::map(dup(other), why) == nullptr);
  CHECK(why == "the ring has another size than it says, or one that may change");
  REQUIRE(ftruncate(other, 8192) == 0);  // big enough, but not sealed
  CHECK(Ring::map(dup(other), why) == nullptr);
  CHECK(why == "the ring has another size than it says, or one that may change");
  const std::uint64_t odd[4] = {0x33474e5244, 500};
  REQUIRE(pwrite(other, odd, sizeof odd, 0) == sizeof odd);
  CHECK(Ring::map(other, why) == nullptr);
  CHECK(why == "the ring's size is impossible");
}

// Whatever it writes: the firing thread stays inside, and what it says itself of the ring is true.
TEST_CASE("a reader that writes nonsense harms only itself") {
  for (const auto policy : {Options::Policy::kSwitch, Options::Policy::kRing, Options::Policy::kFill}) {
    auto ring = Ring::make(4096, 3, 9, policy);
    const Scribbler scribbler(*ring);
    std::uint64_t refused = 0;
    for (std::uint64_t i = 0; i < 300'000; ++i) refused += !put(*ring, 3 + i % 100, i);
    CHECK_FALSE(put(*ring, 513, 0));
    CHECK(ring->capacity_bytes() == 4096);
    CHECK(ring->policy() == policy);
    CHECK(ring->number() == 3);
    CHECK(ring->tid() == 9);
    // Policy ring also counts what it had to give up without knowing where its records end.
    CHECK(ring->drops(Drop::kPrincipal) >= refused + 1);
    if (policy != Options::Policy::kRing) CHECK(ring->drops(Drop::kPrincipal) == refused + 1);
    CHECK((policy == Options::Policy::kFill || !ring->is_full()));
  }
}

TEST_CASE("a machine that writes nonsense gives the reader whole records or none") {
  for (const auto policy : {Options::Policy::kSwitch, Options::Policy::kRing}) {
    auto ring = Ring::make(4096, 3, 9, policy);
    std::string why;
    auto mine = Ring::map(dup(ring->descriptor()), why);
    REQUIRE(mine != nullptr);
    const Scribbler scribbler(*ring);
    std::vector<std::uint64_t> out;
    std::size_t all = 0;
    for (int i = 0; i < 300'000 && all < 100'000'000; ++i) {
      out.clear();
      const std::size_t words = mine->take(out, static_cast<std::size_t>(i) % 200);
      REQUIRE(words == out.size());
      REQUIRE(words <= 512);
      all += words;
      std::size_t end = 0;
      while (end < out.size() && static_cast<std::uint32_t>(out[end]) >= sizeof(Record))
        end += static_cast<std::uint32_t>(out[end]) / 8;
      REQUIRE(end == out.size());
    }
    CHECK(mine->capacity_bytes() == 4096);
  }
}

TEST_CASE("of what one thread puts another takes each record once, in order, and the rest is counted") {
  auto ring = Ring::make(8192, 0, 0, Options::Policy::kSwitch);
  constexpr std::uint64_t kRecords = 400'000;
  std::atomic<bool> done{false};
  std::thread producer([&] {
    for (std::uint64_t i = 0; i < kRecords; ++i) put(*ring, 3 + i % 30, i);
    done = true;
  });
  std::uint64_t taken = 0, last = 0;
  bool whole = true;
  std::vector<std::uint64_t> out;
  for (;;) {
    const bool last_look = done;
    out.clear();
    const std::size_t words = ring->take(out, 300);
    for (std::size_t at = 0; at < words; at += static_cast<std::uint32_t>(out[at]) / 8) {
      const std::uint64_t number = out[at + 1], size = static_cast<std::uint32_t>(out[at]) / 8;
      whole &= (taken == 0 || number > last) && size == 3 + number % 30;
      for (std::uint64_t i = 3; i < size; ++i) whole &= out[at + i] == number;
      last = number;
      ++taken;
    }
    if (words == 0 && last_look) break;
  }
  producer.join();
  CHECK(whole);
  CHECK(taken + ring->drops(Drop::kPrincipal) == kRecords);
}

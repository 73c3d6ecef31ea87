#include "probes/engine/ring.hpp"

#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

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
  CHECK(ring->take(out, 10) == 18);
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
  const int other = memfd_create("other", 0);
  const std::uint64_t head[] = {0x31474e5244, 512};
  REQUIRE(write(other, head, sizeof head) == sizeof head);
  CHECK(Ring::map(dup(other), why) == nullptr);
  CHECK(why == "the ring cannot be mapped");
  const std::uint64_t odd[] = {0x31474e5244, 500};
  REQUIRE(pwrite(other, odd, sizeof odd, 0) == sizeof odd);
  CHECK(Ring::map(other, why) == nullptr);
  CHECK(why == "the ring's size is impossible");
}

// SPDX-License-Identifier: Apache-2.0
// Memory for machine code: near, executed and not written where it is executed, given back.
#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "vm/hot/area.hpp"
#include "vm/jit/processor.hpp"

using namespace vmrun;

namespace {

int somewhere() { return 1; }
const void* near_here() { return reinterpret_cast<const void*>(&somewhere); }

/// As in /proc/self/maps.
std::string permissions_of(const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::size_t behind = 0;
    const auto first = std::stoull(line, &behind, 16);
    const auto last = std::stoull(line.substr(behind + 1), nullptr, 16);
    if (at >= first && at < last) return line.substr(line.find(' ') + 1, 3);
  }
  return "";
}

/// A function that returns a number of 16 bits.
std::vector<std::uint8_t> returns(unsigned n) {
#if defined(__aarch64__)
  const unsigned move = 0x52800000 | n << 5;  // mov w0, #n; ret
  std::vector<std::uint8_t> code{0, 0, 0, 0, 0xC0, 0x03, 0x5F, 0xD6};
  std::memcpy(code.data(), &move, sizeof move);
  return code;
#else
  // mov $n, %eax; ret
  return {0xB8, static_cast<std::uint8_t>(n), static_cast<std::uint8_t>(n >> 8), 0, 0, 0xC3};
#endif
}
const std::vector<std::uint8_t> code = returns(42);

}  // namespace

TEST_CASE("What is written to an area is executed, and cannot be written where it is executed") {
  Area area(near_here(), 1 << 16);
  REQUIRE(area.ok());
  const std::uint8_t* const at = area.allocate(code.size());
  REQUIRE(at);
  CHECK(permissions_of(at) == "---");
  REQUIRE(area.install(at, code.data(), code.size()));
  CHECK(reinterpret_cast<int (*)()>(reinterpret_cast<std::uintptr_t>(at))() == 42);
  CHECK(permissions_of(at) == "r-x");
  if (jit::kReach != std::numeric_limits<std::size_t>::max())
    CHECK(std::abs(at - static_cast<const std::uint8_t*>(near_here())) < std::int64_t{1} << 31);
  area.free(at, code.size());
  CHECK(permissions_of(at) == "---");
}

TEST_CASE("What lies in one piece of an area is written while others are executed") {
  Area area(near_here(), 1 << 16);
  REQUIRE(area.ok());
  const std::uint8_t* const first = area.allocate(code.size());
  REQUIRE(area.install(first, code.data(), code.size()));
  std::atomic<bool> ends{false};
  std::atomic<unsigned> wrong{0}, turns{0};
  std::thread runs([&] {
    for (; !ends; ++turns)
      if (reinterpret_cast<int (*)()>(reinterpret_cast<std::uintptr_t>(first))() != 42) ++wrong;
  });
  while (turns == 0) std::this_thread::yield();
  for (int round = 0; round < 1000; ++round) {
    const std::uint8_t* const other = area.allocate(code.size());
    REQUIRE(area.install(other, code.data(), code.size()));
    area.free(other, code.size());
  }
  ends = true;
  runs.join();
  CHECK(wrong == 0);
}

TEST_CASE("All of an area can be taken again when all has been given back, in whatever order") {
  constexpr std::size_t kBytes = 1 << 16;
  Area area(near_here(), kBytes);
  REQUIRE(area.ok());
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    std::vector<std::pair<const std::uint8_t*, std::size_t>> taken;
    for (;;) {
      const std::size_t bytes = 1 + random() % 3000;
      const std::uint8_t* const at = area.allocate(bytes);
      if (!at) break;
      for (const auto& [other, size] : taken) REQUIRE((at + bytes <= other || other + size <= at));
      taken.emplace_back(at, bytes);
    }
    REQUIRE(area.used() > kBytes / 2);
    std::ranges::shuffle(taken, random);
    for (const auto& [at, bytes] : taken) area.free(at, bytes);
    REQUIRE(area.used() == 0);
    const std::uint8_t* const whole = area.allocate(kBytes);
    REQUIRE(whole);
    REQUIRE(!area.allocate(1));
    area.free(whole, kBytes);
  }
}

TEST_CASE("Codes share pages, and the place of one that is freed is taken again") {
  Area area(near_here(), 1 << 18);
  REQUIRE(area.ok());
  constexpr std::size_t kBytes = 1000;
  const auto add = [&](int n) {
    std::vector<std::uint8_t> code = returns(static_cast<unsigned>(n));
    code.resize(kBytes);
    const std::uint8_t* const at = area.allocate(kBytes);
    REQUIRE(at);
    REQUIRE(area.install(at, code.data(), kBytes));
    return at;
  };
  const auto run = [](const std::uint8_t* at) {
    return reinterpret_cast<int (*)()>(reinterpret_cast<std::uintptr_t>(at))();
  };
  std::vector<const std::uint8_t*> at;
  for (int n = 0; n < 150; ++n) at.push_back(add(n));
  const std::size_t all = area.used();
  CHECK(all < 150 * 1024 + 4096);
  CHECK(area.taken() == 150 * 1024);
  for (int n = 0; n < 150; ++n) REQUIRE(run(at[n]) == n);
  for (int n = 0; n < 150; n += 2) area.free(at[n], kBytes);
  for (int n = 0; n < 150; n += 2) at[n] = add(1000 + n);
  CHECK(area.used() == all);
  for (int n = 0; n < 150; ++n) REQUIRE(run(at[n]) == (n % 2 ? n : 1000 + n));
  for (const std::uint8_t* const one : at) {
    CHECK(permissions_of(one) == "r-x");
    area.free(one, kBytes);
  }
  CHECK(area.used() == 0);
  CHECK(permissions_of(at[0]) == "---");
}

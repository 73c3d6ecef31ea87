// SPDX-License-Identifier: Apache-2.0
// timestamp = base_ns + (counter - base) * rate, where the rate is a binary fraction of 32 places.
// One thread at a time changes these numbers, under a sequence counter. Readers try again when the
// counter has moved. A change never makes the clock jump: the new line starts where the old one is,
// with a slope that meets CLOCK_MONOTONIC again after a second.
#include "probes/engine/trace_clock.hpp"

#include <algorithm>
#include <atomic>
#include <ctime>
#include <mutex>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace vmrun::d {

namespace {

std::uint64_t read_system(clockid_t id) {
  timespec t;
  clock_gettime(id, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
}

#if defined(__x86_64__)

constexpr unsigned kPlaces = 32;
constexpr std::uint64_t kCalibration = 4'000'000, kCatchUp = 1'000'000'000;

bool counter_is_steady() {
  unsigned a, b, c, d;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;
}

struct Line {
  std::atomic<std::uint64_t> sequence{0};  // odd while the line is changed; 0: not made yet
  std::atomic<std::uint64_t> counter{0}, ns{0}, rate{0};
};
constinit Line line;

std::uint64_t scaled(std::uint64_t ticks, std::uint64_t rate) {
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(ticks) * rate) >> kPlaces);
}

struct Pair {
  std::uint64_t counter, ns;
};
// Reads both clocks at the same moment: of several readings, the one that took the fewest ticks.
Pair read_both() {
  Pair best{};
  std::uint64_t least = ~0ull;
  for (int i = 0; i < 8; ++i) {
    const auto before = __rdtsc();
    const auto ns = read_system(CLOCK_MONOTONIC);
    const auto after = __rdtsc();
    if (after - before < least) least = after - before, best = {before + (after - before) / 2, ns};
  }
  return best;
}

std::uint64_t rate_between(const Pair& from, const Pair& to) {
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(to.ns - from.ns) << kPlaces) /
                                    (to.counter - from.counter));
}

std::uint64_t on_line(std::uint64_t counter) {
  const auto base = line.counter.load(std::memory_order_relaxed);
  // Another core's counter may be a few ticks behind the one that the base was read from.
  return line.ns.load(std::memory_order_relaxed) +
         (counter > base ? scaled(counter - base, line.rate.load(std::memory_order_relaxed)) : 0);
}

void set_line(const Pair& at, std::uint64_t rate) {
  const auto sequence = line.sequence.load(std::memory_order_relaxed);
  line.sequence.store(sequence + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);  // pairs with the fence of timestamp()
  line.counter.store(at.counter, std::memory_order_relaxed);
  line.ns.store(at.ns, std::memory_order_relaxed);
  line.rate.store(rate, std::memory_order_relaxed);
  line.sequence.store(sequence + 2, std::memory_order_release);
}

#endif

}  // namespace

std::uint64_t timestamp() {
#if defined(__x86_64__)
  for (;;) {
    const auto sequence = line.sequence.load(std::memory_order_acquire);
    if (sequence == 0) break;
    const auto ns = on_line(__rdtsc());
    std::atomic_thread_fence(std::memory_order_acquire);
    if ((sequence & 1) == 0 && line.sequence.load(std::memory_order_relaxed) == sequence) return ns;
    if ((sequence & 1) != 0) __builtin_ia32_pause();
  }
#endif
  return read_system(CLOCK_MONOTONIC);
}

void adjust_clock() {
#if defined(__x86_64__)
  static const bool steady = counter_is_steady();
  if (!steady) return;
  static std::mutex one;
  static Pair first;
  const std::lock_guard guard(one);
  if (line.sequence.load(std::memory_order_relaxed) == 0) {
    first = read_both();
    while (read_system(CLOCK_MONOTONIC) < first.ns + kCalibration) __builtin_ia32_pause();
    const Pair now = read_both();
    set_line(now, rate_between(first, now));
    return;
  }
  const Pair now = read_both();
  if (now.ns < first.ns + 10 * kCalibration) return;
  const auto rate = rate_between(first, now);
  const auto shown = on_line(now.counter);
  const auto ahead = static_cast<std::int64_t>(shown - now.ns);
  // The clock runs at most half a thousandth too fast or too slow.
  const auto most = static_cast<std::int64_t>(kCatchUp / 2000);
  const auto part = std::clamp<std::int64_t>(-ahead, -most, most);
  const auto correction =
      static_cast<std::int64_t>(static_cast<__int128>(rate) * part / static_cast<std::int64_t>(kCatchUp));
  set_line({now.counter, shown}, rate + static_cast<std::uint64_t>(correction));
#endif
}

std::uint64_t thread_time_ns() { return read_system(CLOCK_THREAD_CPUTIME_ID); }
std::uint64_t wall_time_ns() { return read_system(CLOCK_REALTIME); }

}  // namespace vmrun::d

// SPDX-License-Identifier: Apache-2.0
#include "vm/base/halt.hpp"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <utility>

#include <unistd.h>

#include "vm/base/parker.hpp"

namespace vmrun {
namespace {

std::mutex mutex;
HaltRequest request;
std::atomic<bool> is_requested{false};
std::atomic<std::uint64_t> signals{0};  // bit N: signal N has come
Parker main_thread;

}  // namespace

void request_halt(HaltRequest wanted) {
  std::lock_guard guard(mutex);
  if (is_requested.load()) return;
  request = std::move(wanted);
  is_requested.store(true);
  main_thread.wake();
}

// Uses only atomics and one system call.
void announce_signal(int number) {
  signals.fetch_or(std::uint64_t{1} << number);
  main_thread.wake();
}

// Everything up to wait_for_halt is safe in a signal handler.
namespace {

constexpr timespec kLookEvery{0, 10'000'000};
constexpr unsigned kPatience = 500;  // looks without progress

std::atomic<bool> somebody_waits{false};
thread_local bool waits_itself = false;
std::atomic<const char*> last_words{nullptr};
std::atomic<unsigned> progress{0};
std::atomic<bool> dump_is_done{false};

}  // namespace

void dump_before_end(const char* slogan) {
  if (!somebody_waits.load() || waits_itself) return;
  const char* none = nullptr;
  if (!last_words.compare_exchange_strong(none, slogan))
    for (;;) pause();
  main_thread.wake();
  unsigned seen = progress.load();
  for (unsigned quiet = 0; quiet < kPatience && !dump_is_done.load(); ++quiet) {
    nanosleep(&kLookEvery, nullptr);
    if (const unsigned now = progress.load(); now != seen) {
      seen = now;
      quiet = 0;
    }
  }
}

void end_for_want(const char* line, const char* slogan) {
  static std::atomic<bool> is_reported{false};
  static char kept_slogan[256];  // lasts as long as the program
  if (is_reported.exchange(true)) {
    if (waits_itself) std::_Exit(1);  // this thread writes the dump, and cannot
    for (;;) pause();                 // the first one ends the program
  }
  std::snprintf(kept_slogan, sizeof kept_slogan, "%s", slogan);
  if (write(STDERR_FILENO, line, std::strlen(line)) < 0) {}  // nowhere left to complain to
  dump_before_end(kept_slogan);
  std::_Exit(1);  // other threads are running: no destructors
}

void dump_goes_on() { progress.fetch_add(1, std::memory_order_relaxed); }
void dump_ended() {
  dump_is_done.store(true);
  for (;;) pause();
}

HaltRequest wait_for_halt(void (*on_signal)(int number)) {
  waits_itself = true;
  somebody_waits.store(true);
  for (;;) {
    main_thread.park([] { return is_requested.load() || signals.load() || last_words.load(); });
    if (const char* slogan = last_words.load())
      return {.status = 1, .dump = true, .slogan = slogan, .awaited = true};
    const std::uint64_t pending = signals.exchange(0);
    for (int number = 1; number < 64; ++number)
      if (pending >> number & 1) on_signal(number);
    if (!is_requested.load()) continue;
    std::lock_guard guard(mutex);
    return request;
  }
}

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#include "vm/base/sync.hpp"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>
#include <thread>

namespace vmrun {

const bool has_membarrier = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;

void ThreadSync::heavy_fence() {
  if (has_membarrier) syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
  else fence();
}

void ThreadSync::futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t value, std::int64_t timeout_ns) {
#if defined(__SANITIZE_THREAD__)
  // The sanitizer delays a signal until its thread calls a function that the sanitizer wraps, and
  // syscall() is not one. So no thread waits for long here, and a thread that is woken early waits
  // again.
  constexpr std::int64_t kMostNs = 100'000'000;
  if (timeout_ns < 0 || timeout_ns > kMostNs) timeout_ns = kMostNs;
  usleep(0);
#endif
  const timespec timeout{static_cast<time_t>(timeout_ns / 1'000'000'000),
                         static_cast<long>(timeout_ns % 1'000'000'000)};
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, timeout_ns < 0 ? nullptr : &timeout, nullptr, 0);
}

void ThreadSync::futex_wake(std::atomic<std::uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}
void ThreadSync::futex_wake_all(std::atomic<std::uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

void SpinLock::wait() {
  for (int i = 0; held_.load(std::memory_order_relaxed); ++i) {
    if (i < 200) cpu_relax();
    else std::this_thread::yield();
  }
}

}  // namespace vmrun

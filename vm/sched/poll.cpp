// SPDX-License-Identifier: Apache-2.0
#include "vm/sched/poll.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <mutex>
#include <string>

#include "vm/base/clock.hpp"
#include "vm/base/microstate.hpp"
#include "vm/base/small_limits.hpp"
#include "vm/sched/descriptors.hpp"
#include "vm/sched/idle.hpp"

namespace vmrun {

std::atomic<int> registered_descriptors{0};
constinit std::atomic<Word> poll_looks{0};

namespace {

// -1: not started. Stored last when the poller starts, so a thread that sees it sees interrupt_fd
// too.
std::atomic<int> epoll_fd{-1};
int interrupt_fd = -1;
int polled() { return epoll_fd.load(std::memory_order_acquire); }  // pairs with the store in start
constexpr Word kInterrupt = ~Word{0};

// ---- The poller's role --------------------------------------------------------------------------

alignas(64) std::atomic<bool> role_taken{false};
std::atomic<Word> last_look_ns{0};
constexpr int kBatch = usual_or_small<int>(64, 1);
epoll_event batch[kBatch];  // belongs to the thread that has the role
int batch_size = 0;

constexpr Word kLookEveryNs = 200'000;

int wait_in_epoll(SWord timeout_ns) {
  static std::atomic<bool> fine{true};  // the kernel takes nanoseconds
  if (fine.load(std::memory_order_relaxed)) {
    timespec timeout{static_cast<time_t>(timeout_ns / 1'000'000'000),
                     static_cast<long>(timeout_ns % 1'000'000'000)};
    const long n =
        syscall(SYS_epoll_pwait2, polled(), batch, kBatch, timeout_ns < 0 ? nullptr : &timeout, nullptr, 0);
    if (n >= 0 || errno != ENOSYS) return static_cast<int>(n);
    fine.store(false, std::memory_order_relaxed);
  }
  const SWord ms = timeout_ns < 0 ? -1 : (timeout_ns + 999'999) / 1'000'000;
  return epoll_wait(polled(), batch, kBatch, ms > 1'000'000'000 ? 1'000'000'000 : static_cast<int>(ms));
}

void start() {
  const int created = epoll_create1(EPOLL_CLOEXEC);
  interrupt_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  epoll_event event{};
  event.events = EPOLLIN | EPOLLET;  // never read: each write is an edge
  event.data.u64 = kInterrupt;
  if (created < 0 || interrupt_fd < 0 || epoll_ctl(created, EPOLL_CTL_ADD, interrupt_fd, &event) < 0) {
    std::fprintf(stderr, "vmrun: cannot wait for descriptors: %s\n", std::strerror(errno));
    std::abort();
  }
  epoll_fd.store(created, std::memory_order_release);
}

void ensure_started() {
  static std::once_flag once;
  std::call_once(once, start);
}

}  // namespace

int poll_control(int operation, int fd, std::uint32_t events, Word tag) {
  ensure_started();
  epoll_event wanted{};
  wanted.events = events;
  wanted.data.u64 = tag;
  if (epoll_ctl(polled(), operation, fd, &wanted) < 0) return errno;
  mind_descriptor();
  return 0;
}

void poll_forget(int fd) { epoll_ctl(polled(), EPOLL_CTL_DEL, fd, nullptr); }

bool poll_claim() {
  // A descriptor is counted before it is registered. A wait that began before the poller has
  // started could not be interrupted.
  if (polled() < 0) return false;
  if (role_taken.load(std::memory_order_relaxed)) return false;
  return !role_taken.exchange(true, std::memory_order_seq_cst);
}

void poll_leave() { role_taken.store(false, std::memory_order_seq_cst); }
bool poll_is_claimed() { return role_taken.load(std::memory_order_seq_cst); }

bool poll_wait(SWord timeout_ns) {
  poll_looks.fetch_add(1, std::memory_order_seq_cst);
  batch_size = wait_in_epoll(timeout_ns);
  last_look_ns.store(monotonic_ns(), std::memory_order_relaxed);
  int kept = 0;
  for (int i = 0; i < batch_size; ++i)
    if (batch[i].data.u64 != kInterrupt) batch[kept++] = batch[i];
  batch_size = kept;
  return kept > 0;
}

Word poll_last_look() { return last_look_ns.load(std::memory_order_relaxed); }

void poll_interrupt() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = write(interrupt_fd, &one, sizeof one);
}

void poll_dispatch() {
  const InMeasuredMicrostate checks(Microstate::kCheckIo);
  for (int i = 0; i < batch_size; ++i) descriptor_ready(batch[i].data.u64, batch[i].events);
  poll_leave();
}

Word poll_set_size() {
  if (polled() < 0) return 0;
  std::ifstream info("/proc/self/fdinfo/" + std::to_string(polled()));
  Word size = 0;
  for (std::string line; std::getline(info, line);) size += line.starts_with("tfd:");
  return size;
}

void poll_now_and_then() {
  if (monotonic_ns() - last_look_ns.load(std::memory_order_relaxed) < kLookEveryNs || !poll_claim()) return;
  const InMeasuredMicrostate looks(Microstate::kCheckIo);
  if (poll_wait(0)) poll_dispatch();
  else poll_leave();
}

}  // namespace vmrun

#include "vm/base/halt.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

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

// Nothing here but atomics and one system call.
void announce_signal(int number) {
  signals.fetch_or(std::uint64_t{1} << number);
  main_thread.wake();
}

HaltRequest wait_for_halt(void (*on_signal)(int number)) {
  for (;;) {
    main_thread.park([] { return is_requested.load() || signals.load(); });
    const std::uint64_t pending = signals.exchange(0);
    for (int number = 1; number < 64; ++number)
      if (pending >> number & 1) on_signal(number);
    if (!is_requested.load()) continue;
    std::lock_guard guard(mutex);
    return request;
  }
}

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#include "vm/sched/stop_the_world.hpp"

#include <condition_variable>
#include <mutex>

#include "vm/sched/poll.hpp"

namespace vmrun {
namespace {

// Guards Scheduler::is_stopped of all schedulers.
std::mutex mutex;
std::condition_variable changed;

std::mutex one_at_a_time;  // taken before the other

bool is_asked(const Scheduler& s) { return s.asked.load(std::memory_order_relaxed) & kAskedToStop; }

}  // namespace

void stop_for_others(Scheduler& s) {
  epoch_leave(*s.epoch);  // the scheduler holds no pointers, and other threads may wait for the epoch
  {
    std::unique_lock lock(mutex);
    s.is_stopped = true;
    changed.notify_all();
    changed.wait(lock, [&] { return !is_asked(s); });
    s.is_stopped = false;
  }
  epoch_enter(*s.epoch);
}

StopTheWorld::StopTheWorld(std::chrono::milliseconds patience) : only_one_(one_at_a_time) {
  std::unique_lock lock(mutex);
  for (unsigned i = 0; i < scheduler_count(); ++i) {
    Scheduler& s = scheduler_at(i);
    s.asked.fetch_or(kAskedToStop, std::memory_order_seq_cst);
    if (s.parker.wake() == Parker::kPolling) poll_interrupt();
  }
  const auto all_stopped = [] {
    for (unsigned i = 0; i < scheduler_count(); ++i)
      if (!scheduler_at(i).is_stopped) return false;
    return true;
  };
  changed.wait_for(lock, patience, all_stopped);
  for (unsigned i = 0; i < scheduler_count(); ++i) stopped_.push_back(scheduler_at(i).is_stopped);
}

StopTheWorld::~StopTheWorld() {
  std::lock_guard lock(mutex);
  for (unsigned i = 0; i < scheduler_count(); ++i)
    scheduler_at(i).asked.fetch_and(static_cast<std::uint8_t>(~kAskedToStop), std::memory_order_seq_cst);
  changed.notify_all();
}

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#include "vm/sched/online.hpp"

#include <condition_variable>
#include <mutex>

#include "vm/base/clock.hpp"
#include "vm/base/microstate.hpp"
#include "vm/process/priority_boost.hpp"
#include "vm/sched/binding.hpp"
#include "vm/sched/bound.hpp"
#include "vm/sched/idle.hpp"
#include "vm/sched/poll.hpp"
#include "vm/sched/run_queue.hpp"

namespace vmrun {

std::atomic<unsigned> busy_schedulers{0};

namespace {

// Guards the wanted state, and kOffline of all schedulers.
std::mutex mutex;
std::condition_variable changed;
unsigned online = 0;
bool blocked = false;

// How many schedulers are online, or will be: work is handed to these.
std::atomic<unsigned> wanted{1};

bool is_to_rest(const Scheduler& s) { return s.asked.load(std::memory_order_seq_cst) & kAskedToRest; }
bool is_offline(const Scheduler& s) { return s.asked.load(std::memory_order_seq_cst) & kOffline; }

void set(Scheduler& s, SchedulerRequest bit, bool value) {
  if (value) s.asked.fetch_or(bit, std::memory_order_seq_cst);
  else s.asked.fetch_and(static_cast<std::uint8_t>(~bit), std::memory_order_seq_cst);
}

void ask() {
  const unsigned n = blocked ? 1 : online;
  wanted.store(n, std::memory_order_relaxed);
  for (unsigned i = 0; i < scheduler_count(); ++i) {
    Scheduler& s = scheduler_at(i);
    if (is_to_rest(s) == (i >= n)) continue;
    set(s, kAskedToRest, i >= n);
    if (s.parker.wake() == Parker::kPolling) poll_interrupt();
  }
  changed.notify_all();  // the wanted state may have been reached already
}

void await(std::unique_lock<std::mutex>& lock) {
  changed.wait(lock, [] {
    for (unsigned i = 0; i < scheduler_count(); ++i)
      if (is_offline(scheduler_at(i)) != is_to_rest(scheduler_at(i))) return false;
    return true;
  });
}

void set_offline(Scheduler& s, bool offline) {
  std::lock_guard guard(mutex);
  set(s, kOffline, offline);
  busy_schedulers.fetch_add(offline ? -1u : 1u, std::memory_order_seq_cst);
  changed.notify_all();
}

/// Returns the schedulers in turn, so that the work is spread.
Scheduler& next_online() {
  static std::atomic<unsigned> last{0};
  return scheduler_at(last.fetch_add(1, std::memory_order_relaxed) % wanted.load(std::memory_order_relaxed));
}

}  // namespace

unsigned schedulers_online() {
  std::lock_guard guard(mutex);
  return online;
}

unsigned schedulers_to_run() {
  std::lock_guard guard(mutex);
  return wanted.load(std::memory_order_relaxed);
}

unsigned set_schedulers_online(unsigned n) {
  std::unique_lock lock(mutex);
  const unsigned before = online;
  online = n;
  ask();
  await(lock);
  lock.unlock();
  bind_schedulers();
  return before;
}

void block_schedulers(bool block) {
  {
    std::lock_guard guard(mutex);
    blocked = block;
    ask();
  }
  bind_schedulers();
}

void await_schedulers() {
  std::unique_lock lock(mutex);
  await(lock);
}

void start_online(unsigned n) {
  std::lock_guard guard(mutex);
  busy_schedulers.store(scheduler_count(), std::memory_order_relaxed);
  online = n;
  blocked = false;
  ask();
}

void hand_over_all(Scheduler& s) {
  if (!is_offline(s)) set_offline(s, true);
  take_inbox(s);
  take_port_inbox(s);
  while (Process* p = pick(s, false)) {
    if (is_bound(*p)) {
      if (is_bound_to_another(*p, s)) hand_to_bound(*p);
      else s.bound.push(*p);
      continue;
    }
    Scheduler& to = next_online();
    boost_as_requested(*p);
    to.inbox.push(*p);
    wake_owner(to);
  }
  while (RunnablePort* p = pick_port(s, false)) {
    Scheduler& to = next_online();
    to.port_inbox.push(*p);
    wake_owner(to);
  }
}

void sleep_offline(Scheduler& s) {
  const auto called = [&] {
    return s.inbox.has_mail() || s.port_inbox.has_mail() ||
           s.asked.load(std::memory_order_seq_cst) != (kAskedToRest | kOffline);
  };
  const Word tick = s.timers.next_tick();
  const SWord left = tick == ~Word{0} ? -1 : static_cast<SWord>(tick * 1'000'000 - monotonic_ns());
  epoch_leave(*s.epoch);
  s.idle.store(true, std::memory_order_seq_cst);
  s.idle_time.start(monotonic_ns());
  if (tick == ~Word{0} || left > 0) {
    const InMicrostate asleep(Microstate::kSleep);
    s.parker.park(called, left);
  }
  s.idle_time.stop(monotonic_ns());
  s.idle.store(false, std::memory_order_seq_cst);
  epoch_enter(*s.epoch);
  if (is_to_rest(s)) return;
  set_offline(s, false);
  while (s.bound.count) {
    Process& p = s.bound.pop();
    boost_as_requested(p);
    enqueue(s, p);
  }
}

}  // namespace vmrun

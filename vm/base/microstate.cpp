// SPDX-License-Identifier: Apache-2.0
#include "vm/base/microstate.hpp"

#include <mutex>

#include "vm/base/activity.hpp"
#include "vm/base/clock.hpp"

namespace vmrun {

constinit thread_local const Activity* activity_here = nullptr;

std::atomic<bool> microstates_measured{false};

namespace {

std::mutex mutex;  // guards the list and the switch
Microstates* all = nullptr;
constinit thread_local Microstates* own = nullptr;

}  // namespace

// ---- One thread ---------------------------------------------------------------------------------

/// Called under the lock, while measured.
void Microstates::settle() {
  const Word now = monotonic_ns();
  times_[static_cast<unsigned>(state_)] += now - since_ns_;
  since_ns_ = now;
}

Microstate Microstates::enter(Microstate state) {
  const std::lock_guard guard(lock_);
  if (measured_) settle();
  const Microstate before = state_;
  state_ = state;
  return before;
}

void Microstates::begin_measuring() {
  const std::lock_guard guard(lock_);
  measured_ = true;
  since_ns_ = monotonic_ns();
}

void Microstates::end_measuring() {
  const std::lock_guard guard(lock_);
  if (measured_) settle();
  measured_ = false;
}

void Microstates::clear() {
  const std::lock_guard guard(lock_);
  if (measured_) settle();
  times_ = {};
}

MicrostateTimes Microstates::times() {
  const std::lock_guard guard(lock_);
  if (measured_) settle();
  return times_;
}

// ---- All threads --------------------------------------------------------------------------------

Microstates& account_for_thread(ThreadKind kind, unsigned number) {
  const std::lock_guard guard(mutex);
  auto* const states = new Microstates(kind, number);
  states->next = all;
  all = states;
  if (microstates_measured.load(std::memory_order_relaxed)) states->begin_measuring();
  return *states;
}

void account_as(Microstates& of_this_thread) { own = &of_this_thread; }

Microstate enter_microstate(Microstate state) { return own ? own->enter(state) : Microstate::kOther; }

bool measure_microstates(bool on) {
  const std::lock_guard guard(mutex);
  const bool before = microstates_measured.exchange(on, std::memory_order_relaxed);
  if (on == before) return before;
  for (Microstates* m = all; m; m = m->next) on ? m->begin_measuring() : m->end_measuring();
  return before;
}

void clear_microstates() {
  const std::lock_guard guard(mutex);
  for (Microstates* m = all; m; m = m->next) m->clear();
}

std::vector<Microstates*> accounted_threads() {
  const std::lock_guard guard(mutex);
  std::vector<Microstates*> threads;
  for (Microstates* m = all; m; m = m->next) threads.push_back(m);
  return threads;
}

}  // namespace vmrun

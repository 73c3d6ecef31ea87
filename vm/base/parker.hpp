// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "vm/base/sync.hpp"

/// Sleeping without missing a wake-up. One thread sleeps and any thread may wake it; both sides are
/// cheap while the sleeper is awake. The rule is Dekker's: a waker first publishes its work and
/// then calls wake(); the sleeper first publishes that it sleeps and then checks for work. All four
/// accesses are sequentially consistent, so at least one side sees the other. Whatever `ready`
/// reads must therefore be read and written in the same way, as an Inbox is.
namespace vmrun {

template <class Sync>
class BasicParker {
 public:
  enum State : std::uint32_t { kAwake, kParked, kPolling };

  /// Sleeps until wake(), or until the time is up (-1: never), unless ready() returns true. May
  /// return spuriously, so callers check and sleep again. Called by the owner.
  template <class Ready>
  void park(Ready&& ready, std::int64_t timeout_ns = -1) {
    state_.store(kParked, std::memory_order_seq_cst);
    if (!ready()) Sync::futex_wait(state_, kParked, timeout_ns);
    state_.store(kAwake, std::memory_order_seq_cst);
  }

  /// As park, but the owner sleeps in `wait`, a poll of descriptors: wake() returns kPolling, and
  /// the waker must interrupt the poll.
  template <class Ready, class Wait>
  void park_polling(Ready&& ready, Wait&& wait) {
    state_.store(kPolling, std::memory_order_seq_cst);
    if (!ready()) wait();
    state_.store(kAwake, std::memory_order_seq_cst);
  }

  /// Wakes the owner, and returns what it was doing. The caller has published its work. Of several
  /// wakers only one calls the kernel. Any thread.
  State wake() {
    if (state_.load(std::memory_order_seq_cst) == kAwake) return kAwake;
    const auto was = static_cast<State>(state_.exchange(kAwake, std::memory_order_seq_cst));
    if (was == kParked) Sync::futex_wake(state_);
    return was;
  }

 private:
  typename Sync::template Atomic<std::uint32_t> state_{kAwake};
};

using Parker = BasicParker<ThreadSync>;

}  // namespace vmrun

#pragma once

#include <cstdint>

#include "vm/base/sync.hpp"

/// Sleeping without missing a wake-up. One thread sleeps, any may wake it; both sides are cheap
/// while it is awake. The rule (Dekker's): who has something for the sleeper makes that visible
/// first and calls wake() then; the sleeper announces that it sleeps first and looks whether there
/// is something then. All four are sequentially consistent, so at least one of them sees the other.
/// What `ready` looks at must therefore be read, and have been written, so (an Inbox is).
namespace vmrun {

template <class Sync>
class BasicParker {
 public:
  enum State : std::uint32_t { kAwake, kParked, kPolling };

  /// The owner: sleeps unless ready() says there is something, until wake(), or the time is up (-1:
  /// never). May return for no reason: callers look and sleep again.
  template <class Ready>
  void park(Ready&& ready, std::int64_t timeout_ns = -1) {
    state_.store(kParked, std::memory_order_seq_cst);
    if (!ready()) Sync::futex_wait(state_, kParked, timeout_ns);
    state_.store(kAwake, std::memory_order_seq_cst);
  }

  /// The same for a sleep of another kind: wake() returns kPolling, and who called it has to end
  /// what `wait` does.
  template <class Ready, class Wait>
  void park_polling(Ready&& ready, Wait&& wait) {
    state_.store(kPolling, std::memory_order_seq_cst);
    if (!ready()) wait();
    state_.store(kAwake, std::memory_order_seq_cst);
  }

  /// Any thread, after it has made visible what there is. Of several wakers one makes the call to
  /// the kernel. Returns what the owner was doing.
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

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "vm/base/clock.hpp"
#include "vm/base/word.hpp"

/// Measures how long something has gone on, in all. One thread starts and stops it; any thread may
/// read it.
namespace vmrun {

class Stopwatch {
 public:
  /// now: monotonic_ns(), at most a moment old.
  void start(Word now) { set(state() - 2 * now + 1); }
  void stop(Word now) { set(state() + 2 * now - 1); }

  struct Reading {
    Word at_ns = 0;  // monotonic
    Word elapsed_ns = 0;
  };
  Reading read() const {
    for (;;) {
      const Word state = state_.load(std::memory_order_acquire);
      const Word at = monotonic_ns();
      // If it was started or stopped meanwhile, `at` does not belong to this state.
      if (state_.load(std::memory_order_acquire) == state)
        return {at, (state & 1 ? state - 1 + 2 * at : state) / 2};
    }
  }

 private:
  Word state() const { return state_.load(std::memory_order_relaxed); }
  void set(Word state) { state_.store(state, std::memory_order_release); }

  // Twice the elapsed time. While the stopwatch runs: minus twice the time of its start, plus one.
  // So one word holds the whole state, and readers never see half of a change.
  std::atomic<Word> state_{0};
};

}  // namespace vmrun

#pragma once

#include <atomic>

#include "vm/base/clock.hpp"
#include "vm/base/word.hpp"

/// How long something has gone on, in all. One thread starts and stops it, any may read it.
namespace vmrun {

class Stopwatch {
 public:
  /// now: monotonic_ns(), of a moment ago at most.
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
      // Started or stopped meanwhile, it would have to be known when.
      if (state_.load(std::memory_order_acquire) == state)
        return {at, (state & 1 ? state - 1 + 2 * at : state) / 2};
    }
  }

 private:
  Word state() const { return state_.load(std::memory_order_relaxed); }
  void set(Word state) { state_.store(state, std::memory_order_release); }

  // Twice the time. While it goes on: less twice the time of its start, plus one; so that one word
  // says all, and readers never see half of a change.
  std::atomic<Word> state_{0};
};

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>

#include <unistd.h>

#include "probes/attach/sampling.hpp"
#include "probes/engine/attach_protocol.hpp"
#include "vm/base/clock.hpp"

/// What the parts of sampling share: threads with their waiting samples, and clocks. The handler
/// (sample_notes.hpp) reads clocks and puts samples in. sample_firing.hpp takes them out. The
/// controlling thread (sampling.cpp) makes and ends threads and clocks.
namespace vmrun::attach {

constexpr unsigned kSamplers = 64;      // the most profile-N and wall-N at once, of all sessions
constexpr unsigned kMostClocks = 8192;  // one for each sampler in each thread
constexpr std::uint32_t kWaiting = 32;  // samples of a thread that have not been fired

struct Waiting {
  std::atomic<std::uint32_t> count{0};  // 0: the sample is being fired, or has been
  unsigned sampler = 0;
  Sample sample;
};

/// A thread that is sampled. Its handler puts samples in; the thread that holds `taking` takes them
/// out. These objects are never freed. Another thread takes over the one of a thread that has
/// ended.
struct SampledThread {
  std::atomic<int> tid{0};
  char name[16] = {};
  std::atomic<std::uint32_t> put{0}, taken{0};
  std::atomic<std::uint64_t> lost{0};
  std::atomic<bool> taking{false};
  // The process for which a dirty scheduler works, and its label. The holder of `taking` uses them.
  Term noted_process;
  d::EncodedArgument noted_label{d::Encoding::kNull, 0};
  char noted_bytes[1024];
  Waiting waiting[kWaiting];
  Word words[512];  // a piece of a stack
  // The controlling thread uses it.
  unsigned scheduler = 0;
};

struct Sampler {
  std::atomic<d::Session*> session{nullptr};
  std::uint32_t probe = 0;
  std::uint64_t interval_ns = 0;
  bool wall = false;
  bool traps = false;  // its clocks send SIGTRAP; one sampler at a time
};
extern Sampler samplers[kSamplers];

/// A sampler in a thread. The signal brings the clock's number and how often that number has been
/// used before. So a late signal of an earlier clock is recognised.
struct Clock {
  std::atomic<SampledThread*> thread{nullptr};  // nullptr: the clock is free
  std::atomic<std::uint32_t> used{0};
  std::atomic<std::uint32_t> due{0};  // how often a wall clock is due
  unsigned sampler = 0;
  std::atomic<int> event{-1};  // the kernel event's descriptor; -1: it has a timer, or is a wall clock
  timer_t timer{};
  bool has_timer = false;
  std::atomic<std::uint64_t> processor_ns{0};  // processor time of the thread when it was last due
};
extern Clock clocks[kMostClocks];
constexpr unsigned kClockBits = 13;
static_assert(kMostClocks == 1u << kClockBits);

// The clock of an event's descriptor, + 1.
constexpr int kMostDescriptors = 65536;
extern std::atomic<std::uint16_t> clock_of_event[kMostDescriptors];

inline int value_of(unsigned clock) {
  return static_cast<int>(clock | clocks[clock].used.load(std::memory_order_relaxed) << kClockBits);
}
/// Returns the value that a clock sends along with a trap. It is never 0.
inline std::uint64_t trap_value_of(unsigned clock) {
  return std::uint64_t{1} << 32 | static_cast<std::uint32_t>(value_of(clock));
}
inline int sampling_signal() { return SIGRTMIN + d::kAttachSignal + 1; }

/// The object that the calling thread had when it was last sampled. sampled_thread() says whether
/// the thread still has it.
extern constinit thread_local SampledThread* sampled_here;
extern constinit thread_local int known_tid;
inline int tid_here() { return known_tid ? known_tid : known_tid = static_cast<int>(gettid()); }

}  // namespace vmrun::attach

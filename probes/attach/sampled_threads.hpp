#pragma once

#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>

#include <unistd.h>

#include "probes/attach/sampling.hpp"
#include "probes/engine/wire.hpp"
#include "vm/base/clock.hpp"

/// What the parts of sampling share: threads with their samples that wait, and clocks. The handler
/// (sample_notes.hpp) reads clocks and puts samples in, sample_firing.hpp takes them out, the
/// controlling thread (sampling.cpp) makes and ends all of them.
namespace vmrun::attach {

constexpr unsigned kSamplers = 64;      // profile-N and wall-N at once, of all sessions
constexpr unsigned kMostClocks = 8192;  // one for each of them in each thread
constexpr std::uint32_t kWaiting = 32;  // samples of a thread that have not been fired

struct Waiting {
  std::atomic<std::uint32_t> count{0};  // times; 0: it is being fired, or has been
  unsigned sampler = 0;
  Sample sample;
};

/// A thread that is sampled. The handler, in that thread, puts samples in; whoever has `taking`
/// takes them out. Never freed: another thread takes over that of one that has ended.
struct SampledThread {
  std::atomic<int> tid{0};
  char name[16] = {};
  std::atomic<std::uint32_t> put{0}, taken{0};
  std::atomic<std::uint64_t> lost{0};
  std::atomic<bool> taking{false};
  // The process that a dirty scheduler works for, and its label. Whoever has `taking`.
  Term noted_process;
  d::EncodedArgument noted_label{d::Encoding::kNull, 0};
  char noted_bytes[1024];
  Waiting waiting[kWaiting];
  Word words[512];  // a piece of a stack
  // The controlling thread's.
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

/// A sampler in a thread. The signal brings its number, and how often that has been used before:
/// one that comes late is of no clock any more.
struct Clock {
  std::atomic<SampledThread*> thread{nullptr};  // nullptr: it is free
  std::atomic<std::uint32_t> used{0};
  std::atomic<std::uint32_t> due{0};  // times, of a wall clock
  unsigned sampler = 0;
  std::atomic<int> event{-1};  // descriptor of the kernel's event; -1: it has a timer, or is a wall clock
  timer_t timer{};
  bool has_timer = false;
  std::atomic<std::uint64_t> processor_ns{0};  // of the thread, when it was last due
};
extern Clock clocks[kMostClocks];
constexpr unsigned kClockBits = 13;
static_assert(kMostClocks == 1u << kClockBits);

// By the event's descriptor: its clock, + 1.
constexpr int kMostDescriptors = 65536;
extern std::atomic<std::uint16_t> clock_of_event[kMostDescriptors];

inline int value_of(unsigned clock) {
  return static_cast<int>(clock | clocks[clock].used.load(std::memory_order_relaxed) << kClockBits);
}
/// The value that a clock which sends a trap gives along; never 0.
inline std::uint64_t trap_value_of(unsigned clock) {
  return std::uint64_t{1} << 32 | static_cast<std::uint32_t>(value_of(clock));
}
inline int sampling_signal() { return SIGRTMIN + d::kAttachSignal + 1; }

/// What the calling thread had when it was last sampled: sampled_thread() says whether it still
/// has it.
extern constinit thread_local SampledThread* sampled_here;
extern constinit thread_local int known_tid;
inline int tid_here() { return known_tid ? known_tid : known_tid = static_cast<int>(gettid()); }

}  // namespace vmrun::attach

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "vm/base/spin_lock.hpp"
#include "vm/base/word.hpp"

/// What each thread of the machine does, and how long it has done so: microstate accounting, as
/// msacc(3) of OTP's runtime_tools has it. Falling asleep and waking up are noted always, so that
/// it is known what a thread does when measuring begins; everything else only while somebody
/// measures. Work that had begun before that is Microstate::kOther until it ends.
namespace vmrun {

enum class Microstate : std::uint8_t {
  kAux,       // timers, memory to be given back
  kCheckIo,   // looks for descriptors that are ready
  kEmulator,  // runs processes
  kGc,
  kOther,  // searches, spins, schedules
  kPort,   // drivers are called
  kSleep,
};
inline constexpr unsigned kMicrostates = 7;
using MicrostateTimes = std::array<Word, kMicrostates>;  // nanoseconds in each

enum class ThreadKind : std::uint8_t { kScheduler, kDirtyCpu, kDirtyIo, kAsync, kPoll };

/// Of one thread. Its own thread changes the state, any may read the times.
class Microstates {
 public:
  Microstates(ThreadKind kind, unsigned number) : kind(kind), number(number) {}

  /// Returns the one before.
  Microstate enter(Microstate state);
  void begin_measuring();
  void end_measuring();
  void clear();
  MicrostateTimes times();

  const ThreadKind kind;
  const unsigned number;
  Microstates* next = nullptr;

 private:
  void settle();

  SpinLock lock_;  // guards what follows
  Microstate state_ = Microstate::kOther;
  bool measured_ = false;
  Word since_ns_ = 0;
  MicrostateTimes times_{};
};

extern std::atomic<bool> microstates_measured;

/// Once, by a thread that begins; it stays known for as long as the machine lives.
void account_for_this_thread(ThreadKind kind, unsigned number);
/// Of the calling thread; one that is not accounted for has none.
Microstate enter_microstate(Microstate state);

/// Returns what was set before.
bool measure_microstates(bool on);
void clear_microstates();
/// The threads that have been started, latest first.
std::vector<Microstates*> accounted_threads();

/// The calling thread is in a state as long as this lives.
class InMicrostate {
 public:
  explicit InMicrostate(Microstate state) : before_(enter_microstate(state)) {}
  ~InMicrostate() { enter_microstate(before_); }
  InMicrostate(const InMicrostate&) = delete;

 private:
  const Microstate before_;
};

/// The same if somebody measures.
class InMeasuredMicrostate {
 public:
  explicit InMeasuredMicrostate(Microstate state)
      : noted_(microstates_measured.load(std::memory_order_relaxed)) {
    if (noted_) [[unlikely]]
      before_ = enter_microstate(state);
  }
  ~InMeasuredMicrostate() {
    if (noted_) [[unlikely]]
      enter_microstate(before_);
  }
  InMeasuredMicrostate(const InMeasuredMicrostate&) = delete;

 private:
  const bool noted_;
  Microstate before_{};
};

}  // namespace vmrun

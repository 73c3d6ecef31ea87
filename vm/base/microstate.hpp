// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "vm/base/spin_lock.hpp"
#include "vm/base/word.hpp"

/// What each thread of the machine does, and for how long: microstate accounting as in msacc(3) of
/// OTP's runtime_tools. Falling asleep and waking up are always recorded, so that the state of a
/// thread is known when measuring begins. Everything else is recorded only while measuring is on.
/// Work that had begun before counts as Microstate::kOther until it ends.
namespace vmrun {

enum class Microstate : std::uint8_t {
  kAux,       // timers, memory trim
  kCheckIo,   // checks which descriptors are ready
  kEmulator,  // runs processes
  kGc,
  kOther,  // searches, spins, schedules
  kPort,   // calls drivers
  kSleep,
};
inline constexpr unsigned kMicrostates = 7;
using MicrostateTimes = std::array<Word, kMicrostates>;  // nanoseconds in each

enum class ThreadKind : std::uint8_t { kScheduler, kDirtyCpu, kDirtyIo, kAsync, kPoll };

/// The state of one thread. Its own thread changes the state; any thread may read the times.
class Microstates {
 public:
  Microstates(ThreadKind kind, unsigned number) : kind(kind), number(number) {}

  /// Enters a state and returns the one before.
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

/// Lists a thread that will be started. It stays in the list for as long as the machine lives.
Microstates& account_for_thread(ThreadKind kind, unsigned number);
/// Called once by each thread that is listed.
void account_as(Microstates& of_this_thread);
/// Does both, for a thread that nobody has listed.
inline void account_for_this_thread(ThreadKind kind, unsigned number) {
  account_as(account_for_thread(kind, number));
}
/// Sets the calling thread's state and returns the one before. Does nothing in a thread that is not
/// accounted for.
Microstate enter_microstate(Microstate state);

/// Returns whether it was on before.
bool measure_microstates(bool on);
void clear_microstates();
/// All threads that have been started, latest first.
std::vector<Microstates*> accounted_threads();

/// Puts the calling thread into a state while the object lives.
class InMicrostate {
 public:
  explicit InMicrostate(Microstate state) : before_(enter_microstate(state)) {}
  ~InMicrostate() { enter_microstate(before_); }
  InMicrostate(const InMicrostate&) = delete;

 private:
  const Microstate before_;
};

/// As above, if measuring is on.
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

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "probes/engine/session.hpp"
#include "vm/probes/texts.hpp"
#include "vm/process/process.hpp"

/// The clocks of profile-N and wall-N. Each thread has a timer of its processor time for each
/// profile-N. A signal interrupts the thread where it is, and the handler notes that place
/// (Sample). The clauses run later, in the same thread where its slice ends, or in the controlling
/// thread. The sample then takes the place of the process that fires.
namespace vmrun::attach {

/// Where a thread was when a clock was due. Nothing in it refers to the process's memory, because
/// the process may have moved or ended when clauses run.
struct Sample {
  static constexpr std::size_t kMostFrames = 512;
  static constexpr std::size_t kMostActivity = 48;

  int tid = 0;
  unsigned scheduler = 0;  // its number; 0: the thread is not a scheduler
  std::uint64_t time_ns = 0;
  // The process for which the thread worked. Without a value there was none, and what follows is
  // empty.
  Term process, name;
  Term initial_module, initial_function;
  unsigned initial_arity = 0;
  std::uint64_t queue_length = 0, heap_words = 0, heap_used = 0, reductions = 0;
  char activity[kMostActivity] = {};  // what it did outside of Erlang functions: [gc]
  bool native = false;                // it was in native code that the instruction calls
  bool knows_place = false;           // false: the place is that of the process when clauses run
  unsigned frame_count = 0;           // first the instruction, then callers

  // These are set while clauses run.
  const Process* owner = nullptr;  // the process, if the running thread has it to itself
  const d::EncodedArgument* label = nullptr;
  const char* label_bytes = nullptr;
  const Export* built_in = nullptr;  // the function that it was in
  std::uint64_t activity_place = 0;  // stands for the activity in stacks

  std::uint64_t frames[kMostFrames];
};

// Only the controlling thread calls the following functions.

/// Starts a profile-N or a wall-N of the session, which fires from now on. Returns false when there
/// is no room for it.
bool start_sampling(d::Session& session, std::uint32_t probe, std::uint64_t interval_ns, bool wall);
/// Stops the session's clocks, and fires what they have found so far. When it returns, no thread is
/// inside a firing of them.
void stop_sampling(d::Session& session);
/// Called now and then. It gives new threads their clocks, and fires samples of threads that do not
/// come to fire them themselves. all: a script is about to look at the results.
void look_after_samples(bool all);
/// A wall-N has been due `times` times: all threads fire it. The caller fires it for a thread that
/// has used no processor time since the last time.
void sample_wall(d::Session& session, std::uint32_t probe, std::uint32_t times);

}  // namespace vmrun::attach

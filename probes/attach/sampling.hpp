#pragma once

#include <cstddef>
#include <cstdint>

#include "probes/engine/session.hpp"
#include "vm/probes/texts.hpp"
#include "vm/process/process.hpp"

/// The clocks of profile-N and wall-N. Each thread has a timer of its processor time for each
/// profile-N; a signal interrupts the thread where it is, and the handler notes that (Sample). The
/// clauses run later, in the same thread where its slice ends, or in the controlling thread, with
/// the sample in the place of the process that fires.
namespace vmrun::attach {

/// Where a thread was when a clock was due. Nothing in it is the process's own: that may have moved
/// or ended when clauses run.
struct Sample {
  static constexpr std::size_t kMostFrames = 512;
  static constexpr std::size_t kMostActivity = 48;

  int tid = 0;
  unsigned scheduler = 0;  // its number; 0: the thread is none
  std::uint64_t time_ns = 0;
  // The process that the thread was at work for; no value: none, and what follows is empty.
  Term process, name;
  Term initial_module, initial_function;
  unsigned initial_arity = 0;
  std::uint64_t queue_length = 0, heap_words = 0, heap_used = 0, reductions = 0;
  char activity[kMostActivity] = {};  // what it did that is no Erlang function: [gc]
  bool native = false;                // it was in what the instruction calls
  bool knows_place = false;           // otherwise it is where the process is when clauses run
  unsigned frame_count = 0;           // first the instruction, then callers

  // While clauses run.
  const Process* owner = nullptr;  // the process, if the running thread has it to itself
  const d::EncodedArgument* label = nullptr;
  const char* label_bytes = nullptr;
  const Export* built_in = nullptr;  // that it was in
  std::uint64_t activity_place = 0;  // stands for the activity in stacks

  std::uint64_t frames[kMostFrames];
};

// The controlling thread.

/// A profile-N or a wall-N of the session: it fires from now on. False: there is no room for it.
bool start_sampling(d::Session& session, std::uint32_t probe, std::uint64_t interval_ns, bool wall);
/// The session's clocks stop; what they have found so far is fired. When it returns no thread is
/// inside a firing of them.
void stop_sampling(d::Session& session);
/// Now and then: threads that are new get their clocks, and samples of threads that do not come to
/// fire them themselves are fired. all: a script is about to look at what there is.
void look_after_samples(bool all);
/// A wall-N has been due so many times: all threads fire it. For one that has used no processor
/// time since the last time the caller does.
void sample_wall(d::Session& session, std::uint32_t probe, std::uint32_t times);

}  // namespace vmrun::attach

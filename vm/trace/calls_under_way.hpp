// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "vm/process/process_state.hpp"
#include "vm/process/return_address.hpp"
#include "vm/process/trace_state.hpp"

/// Calls of functions that are watched by name (code/function_probes.hpp) and have not ended. Each
/// process has its own, oldest first, with the depth of the stack at the call. The return that
/// finds the stack at that depth ends the call, also when the function ended in a call of another.
/// An exception that unwinds further ends it too. Used only by the thread that has the process.
///
/// Such a call has a second return address above its own (ends_of_calls in
/// process/return_address.hpp). It leads to code of the machine's own, which ends the calls of that
/// depth and then returns to the caller. So the functions that run meanwhile are not changed, and
/// keep their JIT code. Tail calls find that address on top of the stack and do not push another
/// one. It stays until that return, also when the end is not awaited any more. Depths are those
/// that the stack would have without it.
namespace vmrun {

inline bool calls_are_under_way(const Process& p) { return p.observed & kCallsUnderWay; }

/// Makes the call that has pushed its return address return through ends_of_calls. The stack is
/// stored; one of the words in reserve is used.
inline void push_ends_of_calls(Process& p) {
  if (!leads_to_ends_of_calls(*p.heap.stop))
    *--p.heap.stop = Term::from_raw(reinterpret_cast<Word>(ends_of_calls));
}

struct CallUnderWay {
  Word depth;                // of the stack, in words, with the return address
  const Word* entry;         // the function's first instruction, whose code may be gone when the call ends
  std::uint32_t function;    // the number that the watcher gave it
  std::uint32_t watch;       // the newest watch when it began; older watches know of its entry
  std::uint32_t times = 1;   // the number of calls, each of which ended in the next one
  bool is_built_in = false;  // a built-in function that is running and may be called again by its instruction
};

/// The calls of one process.
class CallsUnderWay {
 public:
  explicit CallsUnderWay(const Process& p);
  ~CallsUnderWay();
  CallsUnderWay(const CallsUnderWay&) = delete;
  CallsUnderWay& operator=(const CallsUnderWay&) = delete;

  bool empty() const { return calls_.empty(); }
  /// The depth of the newest call, while there is one.
  Word newest_depth() const { return newest_depth_; }
  const CallUnderWay& newest() const { return calls_.back(); }

  /// A call begins; no deeper one is under way. Functions that end in calls of each other for ever
  /// do not take more memory with each call. A call is counted in the record of another call of its
  /// function at its depth, if that record is the newest, or if many others lie between. (Those
  /// return at the same moment; in the latter case not in the order in which they began.)
  void begin(const CallUnderWay& call);
  /// Ends this many calls of the newest record.
  void end_newest(std::uint32_t times);
  /// The newest call, a built-in, has failed or goes on as another function, at that depth.
  void built_in_is_over(Word depth);
  /// Drops the calls whose end is not awaited any more.
  void forget_unawaited();

 private:
  friend struct CallsOfAll;
  void calls_changed() { newest_depth_ = calls_.empty() ? 0 : calls_.back().depth; }

  Word newest_depth_ = 0;
  std::vector<CallUnderWay> calls_;
  const Term process_;
  CallsUnderWay *next_, **link_;  // links the calls of all processes
};

/// Returns p's calls; makes them if p has none yet.
CallsUnderWay& calls_of(Process& p);
/// Returns p's calls, while calls_are_under_way(p).
inline CallsUnderWay& known_calls_of(const Process& p) { return *p.extra->trace_state->calls; }

/// Whether calls end when a function returns to the address on top of the stack, which has that
/// depth.
inline bool ends_calls(const Process& p, Word depth) {
  return calls_are_under_way(p) && known_calls_of(p).newest_depth() >= depth;
}

/// Ends this many calls of the newest record.
void end_newest_call(Process& p, std::uint32_t times);
/// p hibernates: none of its calls will end, so they are dropped.
void drop_calls(Process& p);

/// Returns the processes that may have such calls. Any thread.
std::vector<Term> processes_with_calls();
/// Called when a watch has ended: p drops the calls whose end is not awaited any more, and frees
/// the part of p that was made for them (TraceState).
void forget_unawaited_calls(Process& p);

}  // namespace vmrun

#pragma once

#include <cstdint>
#include <vector>

#include "vm/process/process_state.hpp"
#include "vm/process/return_address.hpp"
#include "vm/process/trace_state.hpp"

/// Calls of functions that are watched by name (code/function_probes.hpp) and have not ended. Each
/// process has its own, oldest first, with the depth of the stack at the call: the return that
/// finds the stack at that depth ends the call, also when the function ended in a call of another;
/// an exception that unwinds further has ended it as well. Touched by the thread that has the
/// process.
///
/// Such a call has a second return address above its own (ends_of_calls in
/// process/return_address.hpp): code of the machine's own, which has the calls of that depth end
/// and then returns to the caller. So the functions that run meanwhile are what they always are,
/// with their machine code. Calls that come last find that address on top of the stack, and do not
/// push another one. It stays until that return, also when nobody awaits it any more. Depths are
/// those that the stack had without it.
namespace vmrun {

/// A bit of Process::observed, among those of trace_state.hpp: there are such calls.
inline constexpr std::uint32_t kCallsUnderWay = 4;

inline bool calls_are_under_way(const Process& p) { return p.observed & kCallsUnderWay; }

/// The call that has pushed its return address returns by way of ends_of_calls. The stack is
/// stored; one of the words in reserve is used.
inline void push_ends_of_calls(Process& p) {
  if (!leads_to_ends_of_calls(*p.heap.stop))
    *--p.heap.stop = Term::from_raw(reinterpret_cast<Word>(ends_of_calls));
}

struct CallUnderWay {
  Word depth;                // of the stack, in words, with the return address
  const Word* entry;         // its first instruction, whose code may be gone when it ends
  std::uint32_t function;    // its number, the watcher's
  std::uint32_t watch;       // the newest one when it began: older watches know of its entry
  std::uint32_t times = 1;   // so many calls, each of which ended in the next one
  bool is_built_in = false;  // a built-in function at work, which may be called again by its instruction
};

/// The calls of one process.
class CallsUnderWay {
 public:
  explicit CallsUnderWay(const Process& p);
  ~CallsUnderWay();
  CallsUnderWay(const CallsUnderWay&) = delete;
  CallsUnderWay& operator=(const CallsUnderWay&) = delete;

  bool empty() const { return calls_.empty(); }
  /// That of the newest call, while there is one.
  Word newest_depth() const { return newest_depth_; }
  const CallUnderWay& newest() const { return calls_.back(); }

  /// A call begins; no deeper one is under way. Functions that end in calls of each other for ever
  /// take no more memory with each call: a call is counted where another one of the same function
  /// at the same depth is, if that is the newest, or if many others lie between. (Those return at
  /// the same moment; in the latter case not in the order in which they began.)
  void begin(const CallUnderWay& call);
  /// So many of the newest record's have ended.
  void end_newest(std::uint32_t times);
  /// The newest one, a built-in, has failed or goes on as another function, at that depth.
  void built_in_is_over(Word depth);
  /// Those that nobody awaits the end of are forgotten.
  void forget_unawaited();

 private:
  friend struct CallsOfAll;
  void calls_changed() { newest_depth_ = calls_.empty() ? 0 : calls_.back().depth; }

  Word newest_depth_ = 0;
  std::vector<CallUnderWay> calls_;
  const Term process_;
  CallsUnderWay *next_, **link_;  // those of all processes
};

/// Whether anybody awaits the end of a call that began during that watch. Set by whoever has the
/// watchers.
extern bool (*is_end_awaited)(std::uint32_t function, std::uint32_t watch);

/// p's, made when it has none yet.
CallsUnderWay& calls_of(Process& p);
/// p's, while calls_are_under_way(p).
inline CallsUnderWay& known_calls_of(const Process& p) { return *p.extra->trace_state->calls; }

/// Whether calls end when a function returns to what is on top of the stack, which has that depth.
inline bool ends_calls(const Process& p, Word depth) {
  return calls_are_under_way(p) && known_calls_of(p).newest_depth() >= depth;
}

/// So many of the newest record's have ended.
void end_newest_call(Process& p, std::uint32_t times);
/// None of them will come to an end: p hibernates.
void drop_calls(Process& p);

/// Those that may have any. Any thread.
std::vector<Term> processes_with_calls();
/// Somebody has stopped watching: p forgets what nobody awaits any more. Gives back the part of p
/// that was made for it (TraceState).
void forget_unawaited_calls(Process& p);

}  // namespace vmrun

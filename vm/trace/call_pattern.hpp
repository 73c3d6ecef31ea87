// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "vm/process/code_view.hpp"
#include "vm/trace/trace_session.hpp"

/// What erlang:trace_pattern and trace:function have set for functions: whether calls of traced
/// processes are reported, which tracer gets the calls of all processes (meta tracing), whether
/// calls are counted, and whether their time and memory are taken. There is one table for the
/// machine, by module, function and arity; a function has a pattern of each session that has set
/// one. A pattern is never changed but replaced. Patterns are about the current code: when a module
/// is loaded anew, the patterns of its functions are removed, and the on_load patterns take their
/// place. Any thread.
namespace vmrun {

/// A match specification, copied; nil: it always matches.
struct CallSpecification {
  explicit CallSpecification(Term t);
  Arena arena;
  Term term;
};

struct MetaTrace {
  MetaTrace(Tracer& tracer, Term specification) : tracer(*tracer.retain()), specification(specification) {}
  ~MetaTrace() { tracer.release(); }
  MetaTrace(const MetaTrace&) = delete;
  Tracer& tracer;
  CallSpecification specification;
  mutable std::atomic<bool> is_gone{false};  // whether a call has found that the tracer is gone
};

struct CallCount {
  CallCount() = default;
  CallCount(const CallCount& other) : calls(other.calls.load(std::memory_order_relaxed)) {}
  std::atomic<Word> calls{0};
};

/// How often each process has called a function, and what it cost: the time that it was in it and
/// in functions that are not timed themselves, in nanoseconds, or the memory that it has allocated
/// there, in words.
class CallCosts {
 public:
  void add(Term pid, Word calls, Word cost);
  /// Returns [{Pid, Calls, Seconds, Microseconds}].
  Term times_term(Heap& out) const;
  /// Returns [{Pid, Calls, Words}].
  Term memory_term(Heap& out) const;

 private:
  struct Item {
    Word calls = 0, cost = 0;
  };
  mutable std::mutex mutex_;
  std::unordered_map<Word, Item> items_;  // by pid
  Term last_ = kNonValue;                 // the process that has called last, and its item
  Item* last_item_ = nullptr;
};

/// What one session has set for a function.
struct CallPattern {
  explicit CallPattern(SessionRef session) : session(std::move(session)) {}
  SessionRef session;
  enum class Traced : std::uint8_t { kNo, kGlobal, kLocal } traced = Traced::kNo;
  std::shared_ptr<const CallSpecification> specification;
  std::shared_ptr<const MetaTrace> meta;
  std::shared_ptr<CallCount> count;
  std::shared_ptr<CallCosts> times, memory;
  bool counts = false, takes_times = false, takes_memory = false;  // false also while that is paused

  bool says_nothing() const { return traced == Traced::kNo && !meta && !count && !times && !memory; }
  /// Whether it is about the calls of all processes, so that the function's code has to report
  /// them.
  bool is_breakpoint() const { return meta || counts; }
  bool takes_costs() const { return takes_times || takes_memory; }
};

/// The patterns of a function; not empty.
struct CallPatterns {
  std::vector<std::shared_ptr<const CallPattern>> of_sessions;
  bool any_traced = false, any_breakpoint = false;
};
/// Returns the function's patterns; nullptr: it has none. The pointer belongs to this thread, and
/// is valid until this thread calls the function again.
const std::shared_ptr<const CallPatterns>& find_call_patterns(const FunctionName& f);

/// Kinds of tracing: bits.
inline constexpr unsigned kGlobalCalls = 1, kLocalCalls = 2, kMetaCalls = 4, kCountCalls = 8, kTimeCalls = 16,
                          kMemoryCalls = 32;

/// A change that trace_pattern has requested.
struct CallPatternChange {
  unsigned kinds = 0;
  enum class Action : std::uint8_t { kOff, kOn, kRestart, kPause } action = Action::kOff;
  Term specification = Term::nil();
  Tracer* meta = nullptr;  // with kMetaCalls, unless kOff; the caller keeps it
};
/// Changes a session's pattern. Calls are found once use_breakpoints (code/function_probes.hpp) has
/// been called after the last change. Does nothing when the session has ended.
void change_call_pattern(const SessionRef& session, const FunctionName& f, const CallPatternChange& change);
/// Changes the session's pattern of functions in modules that are loaded from now on.
void change_on_load_pattern(const SessionRef& session, const CallPatternChange& change);
/// The session has ended: removes its patterns. Returns whether any was a breakpoint.
bool forget_call_patterns(const TraceSession& session);

/// Returns {Traced, Specification, Meta, MetaSpecification, Count, Times, Memory}, with false for
/// what is not set, and [] for a meta tracer that is gone; undefined when nothing is set.
Term call_pattern_term(const TraceSession& session, const FunctionName& f, Heap& out);
/// Returns that for on_load, with true for Count, Times and Memory.
Term on_load_pattern_term(const TraceSession& session, Heap& out);
/// Returns the sessions that have a pattern for the function, or for on_load, the oldest first.
std::vector<SessionRef> sessions_with_pattern(const FunctionName& f);
std::vector<SessionRef> sessions_with_on_load_pattern();

// For the code that sets breakpoints.

/// Whether a function of this module may have a breakpoint.
bool has_breakpoints(Term module);
bool has_breakpoint(const FunctionName& f);
bool any_breakpoints();
/// Code of this module is being loaded: removes its patterns, see above. Returns whether
/// breakpoints were removed. apply_on_load_patterns then sets the on_load patterns for its
/// functions; `functions` includes the exported ones.
bool forget_call_patterns(Term module);
void apply_on_load_patterns(const std::vector<FunctionName>& functions,
                            const std::vector<FunctionName>& exported);
bool is_on_load_pattern_set();

}  // namespace vmrun

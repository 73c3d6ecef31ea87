// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "vm/process/code_view.hpp"
#include "vm/trace/trace.hpp"

/// What erlang:trace_pattern has set for functions: whether calls of traced processes are reported,
/// which tracer gets the calls of all processes (meta tracing), whether calls are counted, and
/// whether their time is taken. There is one table for the machine, by module, function and arity.
/// The pattern of a function is never changed but replaced. Patterns are about the current code:
/// when a module is loaded anew, the patterns of its functions are removed, and the on_load pattern
/// takes their place. Any thread.
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

/// How often each process has called a function, and how long it was in it and in functions that
/// are not timed themselves.
class CallTimes {
 public:
  void add(Term pid, Word calls, Word ns);
  /// Returns [{Pid, Calls, Seconds, Microseconds}].
  Term term(Heap& out) const;

 private:
  struct Item {
    Word calls = 0, ns = 0;
  };
  mutable std::mutex mutex_;
  std::unordered_map<Word, Item> items_;  // by pid
  Term last_ = kNonValue;                 // the process that has called last, and its item
  Item* last_item_ = nullptr;
};

struct CallPattern {
  enum class Traced : std::uint8_t { kNo, kGlobal, kLocal } traced = Traced::kNo;
  std::shared_ptr<const CallSpecification> specification;
  std::shared_ptr<const MetaTrace> meta;
  std::shared_ptr<CallCount> count;
  std::shared_ptr<CallTimes> times;
  bool counts = false, takes_times = false;  // false also while that is paused

  bool says_nothing() const { return traced == Traced::kNo && !meta && !count && !times; }
  /// Whether it is about the calls of all processes, so that the function's code has to report
  /// them.
  bool is_breakpoint() const { return meta || counts; }
};
/// Returns the function's pattern; nullptr: it has none. The pointer belongs to this thread, and is
/// valid until this thread calls the function again.
const std::shared_ptr<const CallPattern>& find_call_pattern(const FunctionName& f);

/// Kinds of tracing: bits.
inline constexpr unsigned kGlobalCalls = 1, kLocalCalls = 2, kMetaCalls = 4, kCountCalls = 8, kTimeCalls = 16;

/// A change that trace_pattern has requested.
struct CallPatternChange {
  unsigned kinds = 0;
  enum class Action : std::uint8_t { kOff, kOn, kRestart, kPause } action = Action::kOff;
  Term specification = Term::nil();
  Tracer* meta = nullptr;  // with kMetaCalls, unless kOff; the caller keeps it
};
/// Changes a pattern. Calls are found once use_breakpoints (code/function_probes.hpp) has been
/// called after the last change.
void change_call_pattern(const FunctionName& f, const CallPatternChange& change);
/// Changes the pattern of functions in modules that are loaded from now on.
void change_on_load_pattern(const CallPatternChange& change);

/// Returns {Traced, Specification, Meta, MetaSpecification, Count, Times}, with false for what is
/// not set, and [] for a meta tracer that is gone; undefined when nothing is set.
Term call_pattern_term(const FunctionName& f, Heap& out);
/// Returns that for on_load, with true for Count and Times.
Term on_load_pattern_term(Heap& out);

// For the code that sets breakpoints.

/// Whether a function of this module may have a breakpoint.
bool has_breakpoints(Term module);
bool has_breakpoint(const FunctionName& f);
bool any_breakpoints();
/// Code of this module is being loaded: removes its patterns, see above. Returns whether
/// breakpoints were removed. apply_on_load_pattern then sets the on_load pattern for its functions;
/// `functions` includes the exported ones.
bool forget_call_patterns(Term module);
void apply_on_load_pattern(const std::vector<FunctionName>& functions,
                           const std::vector<FunctionName>& exported);
bool is_on_load_pattern_set();

}  // namespace vmrun

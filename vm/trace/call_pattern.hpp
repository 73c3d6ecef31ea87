#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "vm/process/code_view.hpp"
#include "vm/trace/trace.hpp"

/// What erlang:trace_pattern says of functions: whether calls of traced processes are told of, who
/// is told of everybody's calls (meta tracing), whether calls are counted, whether their time is
/// taken. One table for the machine, by module, function and arity; what it says of a function is
/// never changed but replaced. It is about the code that is current: when a module is loaded anew,
/// what was said of its functions goes, and what on_load says comes. Any thread.
namespace vmrun {

/// A match specification, kept; nil: always.
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
  mutable std::atomic<bool> is_gone{false};  // the tracer, as a call has found
};

struct CallCount {
  CallCount() = default;
  CallCount(const CallCount& other) : calls(other.calls.load(std::memory_order_relaxed)) {}
  std::atomic<Word> calls{0};
};

/// How often each process has called a function, and how long it was in there and in what is not
/// timed itself.
class CallTimes {
 public:
  void add(Term pid, Word calls, Word ns);
  /// [{Pid, Calls, Seconds, Microseconds}]
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
  bool counts = false, takes_times = false;  // false also while that pauses

  bool says_nothing() const { return traced == Traced::kNo && !meta && !count && !times; }
  /// It is about the calls of all processes, so the function's code has to tell of them.
  bool is_breakpoint() const { return meta || counts; }
};
/// nullptr: nothing is said of it. The pointer is the thread's own, and as such good until it asks
/// again.
const std::shared_ptr<const CallPattern>& find_call_pattern(const FunctionName& f);

/// Kinds of tracing: bits.
inline constexpr unsigned kGlobalCalls = 1, kLocalCalls = 2, kMetaCalls = 4, kCountCalls = 8, kTimeCalls = 16;

/// A wish of trace_pattern.
struct CallPatternChange {
  unsigned kinds = 0;
  enum class Action : std::uint8_t { kOff, kOn, kRestart, kPause } action = Action::kOff;
  Term specification = Term::nil();
  Tracer* meta = nullptr;  // with kMetaCalls, unless off; stays with the caller
};
/// Calls are found when use_breakpoints (code/function_probes.hpp) has been called after the last
/// change.
void change_call_pattern(const FunctionName& f, const CallPatternChange& change);
/// The same for functions of modules that are loaded from now on.
void change_on_load_pattern(const CallPatternChange& change);

/// {Traced, Specification, Meta, MetaSpecification, Count, Times} with false for what is not said,
/// and [] where the meta tracer is gone; undefined when nothing is said.
Term call_pattern_term(const FunctionName& f, Heap& out);
/// The same of on_load, with true for Count and Times.
Term on_load_pattern_term(Heap& out);

// Of those who put breakpoints to the code.

/// Whether a function of this module may have one.
bool has_breakpoints(Term module);
bool has_breakpoint(const FunctionName& f);
bool any_breakpoints();
/// Code of this module is loaded: see above. exported, others: its functions. Whether breakpoints
/// have gone.
bool forget_call_patterns(Term module);
void apply_on_load_pattern(const std::vector<FunctionName>& functions,
                           const std::vector<FunctionName>& exported);
bool is_on_load_pattern_set();

}  // namespace vmrun

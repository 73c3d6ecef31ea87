// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <boost/context/fiber.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

/// A model checker for the building blocks of vm/base: it runs the real code, instantiated with
/// ExplorerSync, in every order its threads' atomic operations can come in. Threads are fibers;
/// each atomic operation is a point where another thread may go on. A run is repeated with other
/// decisions until all have been taken; what differs only in the order of operations that do not
/// touch each other is tried once (stateless model checking with sleep sets: Godefroid, "Model
/// Checking for Programming Languages using VeriSoft", 1997).
///
/// Memory is what x86 has (total store order): a store that is not sequentially consistent waits in
/// its thread's buffer, and when it arrives is a decision too; read-modify-write operations, fences
/// and sequentially consistent stores empty the buffer. Looser orders of other processors are not
/// tried. A run fails when a CHECKED condition does not hold, or when nobody can go on (a lost
/// wake-up).
///
/// So that a check is known to be able to fail, a program can be explored with one of the crucial
/// operations left out: kBarriers makes sequentially consistent stores plain ones and fences
/// nothing, kHeavyFence leaves out the heavy fence, kUpdates takes read-modify-write operations
/// apart into a load and a store.
namespace explorer {

enum class Weaken { kNothing, kBarriers, kHeavyFence, kUpdates };

class Run;
inline Run* current_run = nullptr;

struct Result {
  std::size_t runs = 0;
  std::string failure;  // of the first run that failed
};

using Program = std::function<void(Run&)>;
Result explore(const Program& program, Weaken weaken = Weaken::kNothing, std::size_t most_runs = 3'000'000);

class Run {
 public:
  Run(std::vector<std::pair<unsigned, unsigned>>& decisions, Weaken weaken)
      : decisions_(decisions), weaken_(weaken) {}

  /// For the program: a thread, and what must hold when all have ended.
  void thread(std::function<void()> body) { threads_.push_back(std::make_unique<Thread>(std::move(body))); }
  void at_end(std::function<void()> check) { at_end_ = std::move(check); }
  void fail(const std::string& what) {
    if (failure_.empty()) failure_ = what;
  }
  Weaken weaken() const { return weaken_; }

  // For the atomics.
  struct Store {
    void* location;
    std::uint64_t value;
    void (*write)(void* location, std::uint64_t value);
  };
  /// Lets others go on; the calling thread's operation follows at once when this returns.
  enum class Touch : std::uint8_t { kNothing, kReads, kWrites, kAll };
  void step(const void* location, Touch touch, bool needs_empty_buffer = false) {
    if (!running_) return;  // the program sets things up, or looks at the end
    running_->pending = {location, touch};
    running_->needs_empty_buffer = needs_empty_buffer;
    running_->outside = std::move(running_->outside).resume();
  }
  bool in_thread() const { return running_ != nullptr; }
  std::deque<Store>& buffer() { return running_->buffer; }
  void write(const Store& s) {
    s.write(s.location, s.value);
    for (auto& t : threads_) t->relaxing = false;
  }
  /// The thread waits for others to write something.
  void relax() {
    running_->relaxing = true;
    step(nullptr, Touch::kAll);
  }
  void sleep_on(void* word) {
    running_->asleep_on = word;
    step(nullptr, Touch::kNothing);
  }
  void wake(void* word) {
    for (auto& t : threads_)
      if (t->asleep_on == word) {
        t->asleep_on = nullptr;
        return;
      }
  }
  void wake_all(void* word) {
    for (auto& t : threads_)
      if (t->asleep_on == word) t->asleep_on = nullptr;
  }

  /// Returns what went wrong, or nothing.
  std::string go() {
    for (auto& t : threads_) start(*t);
    std::vector<Action> asleep;  // tried before, and nothing since has touched what they touch
    for (;;) {
      bool left = false;
      for (auto& t : threads_) left |= !t->done || !t->buffer.empty();
      if (!failure_.empty() || !left) break;
      std::vector<Action> actions = enabled();
      if (actions.empty()) {
        fail("nobody can go on");
        break;
      }
      std::erase_if(actions, [&](const Action& a) {
        return std::any_of(asleep.begin(), asleep.end(), [&](const Action& z) { return z.same(a); });
      });
      if (actions.empty()) return {};  // an order like one that has been tried
      const unsigned chosen = decide(static_cast<unsigned>(actions.size()));
      const Action a = actions[chosen];
      asleep.insert(asleep.end(), actions.begin(), actions.begin() + chosen);
      std::erase_if(asleep, [&](const Action& z) { return z.disturbs(a); });
      if (a.flush) flush_one(*a.thread);
      else resume(*a.thread);
    }
    if (failure_.empty() && at_end_) at_end_();
    return failure_;
  }

 private:
  struct Thread {
    explicit Thread(std::function<void()> b) : body(std::move(b)) {}
    std::function<void()> body;
    boost::context::fiber inside, outside;
    bool done = false, relaxing = false, needs_empty_buffer = false;
    struct {
      const void* location;
      Touch touch;
    } pending{nullptr, Touch::kNothing};  // what it does when it goes on
    void* asleep_on = nullptr;
    std::deque<Store> buffer;
  };
  struct Action {
    Thread* thread;
    bool flush;  // the oldest store arrives
    const void* location;
    Touch touch;
    bool same(const Action& other) const { return thread == other.thread && flush == other.flush; }
    bool disturbs(const Action& other) const {
      if (thread == other.thread || touch == Touch::kAll || other.touch == Touch::kAll) return true;
      return location == other.location && (touch == Touch::kWrites || other.touch == Touch::kWrites);
    }
  };

  std::vector<Action> enabled() const {
    std::vector<Action> actions;
    bool all_empty = true;
    for (auto& t : threads_) all_empty &= t->buffer.empty();
    for (auto& t : threads_) {
      const bool waits =
          t->needs_empty_buffer && !(t->pending.touch == Touch::kAll ? all_empty : t->buffer.empty());
      if (!t->done && !t->asleep_on && !t->relaxing && !waits)
        actions.push_back({t.get(), false, t->pending.location, t->pending.touch});
      if (!t->buffer.empty()) actions.push_back({t.get(), true, t->buffer.front().location, Touch::kWrites});
    }
    return actions;
  }

  void start(Thread& t) {
    t.inside = boost::context::fiber([&t](boost::context::fiber&& outside) {
      t.outside = std::move(outside);
      t.body();
      t.done = true;
      return std::move(t.outside);
    });
    resume(t);  // up to its first operation, which nobody can tell apart
  }
  void resume(Thread& t) {
    running_ = &t;
    t.inside = std::move(t.inside).resume();
    running_ = nullptr;
  }
  void flush_one(Thread& t) {
    const Store s = t.buffer.front();
    t.buffer.pop_front();
    write(s);
  }
  unsigned decide(unsigned choices) {
    if (choices == 1) return 0;
    if (taken_ == decisions_.size()) decisions_.emplace_back(0, choices);
    return decisions_[taken_++].first;
  }

  std::vector<std::pair<unsigned, unsigned>>& decisions_;  // taken, of how many
  std::size_t taken_ = 0;
  const Weaken weaken_;
  std::vector<std::unique_ptr<Thread>> threads_;
  Thread* running_ = nullptr;
  std::function<void()> at_end_;
  std::string failure_;
};

inline Result explore(const Program& program, Weaken weaken, std::size_t most_runs) {
  Result result;
  std::vector<std::pair<unsigned, unsigned>> decisions;
  for (;;) {
    {
      Run run(decisions, weaken);
      current_run = &run;
      program(run);
      result.failure = run.go();
      current_run = nullptr;
    }
    ++result.runs;
    if (!result.failure.empty()) return result;
    while (!decisions.empty() && decisions.back().first + 1 == decisions.back().second) decisions.pop_back();
    if (decisions.empty()) return result;
    ++decisions.back().first;
    if (result.runs == most_runs) {
      result.failure = "too many orders to try them all";
      return result;
    }
  }
}

template <class T>
std::uint64_t to_bits(T v) {
  if constexpr (std::is_pointer_v<T>) return reinterpret_cast<std::uint64_t>(v);
  else return static_cast<std::uint64_t>(v);
}
template <class T>
T from_bits(std::uint64_t v) {
  if constexpr (std::is_pointer_v<T>) return reinterpret_cast<T>(v);
  else return static_cast<T>(v);
}

/// What std::atomic offers, of what is used.
template <class T>
class Atomic {
 public:
  Atomic(T value = T{}) : value_(value) {}
  Atomic(const Atomic&) = delete;

  T load(std::memory_order = std::memory_order_seq_cst) const {
    Run& run = *current_run;
    run.step(this, Run::Touch::kReads);
    if (run.in_thread())
      for (auto s = run.buffer().rbegin(); s != run.buffer().rend(); ++s)
        if (s->location == this) return from_bits<T>(s->value);
    return value_;
  }
  void store(T value, std::memory_order order = std::memory_order_seq_cst) {
    Run& run = *current_run;
    const bool at_once = order == std::memory_order_seq_cst && run.weaken() != Weaken::kBarriers;
    if (!run.in_thread() || at_once) {
      run.step(this, Run::Touch::kWrites, true);
      run.write({this, to_bits(value), &write});
    } else {
      run.step(this, Run::Touch::kNothing);
      run.buffer().push_back({this, to_bits(value), &write});
    }
  }
  T exchange(T value, std::memory_order = std::memory_order_seq_cst) {
    return modify([&](T) { return value; });
  }
  T fetch_add(T n, std::memory_order = std::memory_order_seq_cst) {
    return modify([&](T old) { return static_cast<T>(old + n); });
  }
  T fetch_sub(T n, std::memory_order = std::memory_order_seq_cst) {
    return modify([&](T old) { return static_cast<T>(old - n); });
  }
  bool compare_exchange_strong(T& expected, T wanted, std::memory_order, std::memory_order) {
    const T wished = expected;
    expected = modify([&](T old) { return old == wished ? wanted : old; });
    return expected == wished;
  }
  bool compare_exchange_weak(T& expected, T wanted, std::memory_order a, std::memory_order b) {
    return compare_exchange_strong(expected, wanted, a, b);
  }

 private:
  static void write(void* location, std::uint64_t value) {
    static_cast<Atomic*>(location)->value_ = from_bits<T>(value);
  }
  template <class F>
  T modify(F&& f) {
    Run& run = *current_run;
    run.step(this, Run::Touch::kWrites, true);
    const T old = value_;
    if (run.weaken() == Weaken::kUpdates) run.step(this, Run::Touch::kWrites, true);
    run.write({this, to_bits(f(old)), &write});
    return old;
  }
  T value_;
};

struct ExplorerSync {
  template <class T>
  using Atomic = explorer::Atomic<T>;

  static void relax() { current_run->relax(); }
  static void fence() {
    if (!current_run->in_thread() || current_run->weaken() == Weaken::kBarriers) return;
    current_run->step(nullptr, Run::Touch::kNothing, true);
  }
  static void light_fence() {}
  static void heavy_fence() {
    if (current_run->weaken() != Weaken::kHeavyFence) current_run->step(nullptr, Run::Touch::kAll, true);
  }
  static void futex_wait(Atomic<std::uint32_t>& word, std::uint32_t value, std::int64_t) {
    // The kernel looks at the word and puts the thread to sleep in one step.
    if (word.load() == value) current_run->sleep_on(&word);
  }
  static void futex_wake(Atomic<std::uint32_t>& word) {
    // Like a write to the word: who looks at it before goes to sleep, who does so after does not.
    current_run->step(&word, Run::Touch::kWrites, true);
    current_run->wake(&word);
  }
  static void futex_wake_all(Atomic<std::uint32_t>& word) {
    current_run->step(&word, Run::Touch::kWrites, true);
    current_run->wake_all(&word);
  }
};

}  // namespace explorer

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <boost/context/fiber.hpp>
#include <boost/context/pooled_fixedsize_stack.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/// A model checker for the building blocks of vm/base: it runs the real code, instantiated with
/// ExplorerSync, in every order its threads' atomic operations can come in. Threads are fibers;
/// each atomic operation is a point where another thread may go on. A run is repeated with other
/// decisions until all have been taken; what differs only in the order of operations that do not
/// touch each other is tried once (stateless model checking with sleep sets: Godefroid, "Model
/// Checking for Programming Languages using VeriSoft", 1997).
///
/// A run fails when a CHECKED condition does not hold, or when nobody can go on (a lost wake-up).
///
/// Memory::kX86 is total store order: a store that is not sequentially consistent waits in its
/// thread's buffer, and when it arrives is a decision too; read-modify-write operations, fences and
/// sequentially consistent stores empty the buffer.
///
/// Memory::kArm is what ARMv8 makes of C++'s orders (Pulte et al., "Promising-ARM/RISC-V: a simpler
/// and faster operational concurrency model", 2019, without its promises). What has been stored has
/// a time, the same for all threads. A load may read any value that is not older than what its
/// thread has read or written at that location, nor older than the time that the thread's acquires
/// and fences have reached; which one is a decision. A sequentially consistent load is behind the
/// thread's own releases. A store may wait in the buffer until later ones have overtaken it, but
/// for those to its location, and a release overtakes nothing. What is not modelled: a store that
/// other threads see before a load that precedes it in its own thread.
///
/// So that a check is known to be able to fail, a program can be explored with one of the crucial
/// operations left out: kBarriers makes sequentially consistent operations acquires and releases
/// and fences nothing, kHeavyFence leaves out the heavy fence, kUpdates takes read-modify-write
/// operations apart into a load and a store, kAcquire and kRelease make those orders relaxed ones.
namespace explorer {

enum class Memory { kX86, kArm };
enum class Weaken { kNothing, kBarriers, kHeavyFence, kUpdates, kAcquire, kRelease };

/// A value that has arrived, and when.
struct Message {
  std::uint64_t time, value;
};
/// What has been written to one location, oldest first; never empty.
using Messages = std::vector<Message>;

/// Times by location.
class Times {
 public:
  std::uint64_t& operator[](const Messages* location) {
    for (auto& [where, time] : times_)
      if (where == location) return time;
    return times_.emplace_back(location, 0).second;
  }

 private:
  std::vector<std::pair<const Messages*, std::uint64_t>> times_;
};

class Run;
inline Run* current_run = nullptr;

struct Result {
  std::size_t runs = 0;
  std::string failure;  // of the first run that failed
};

using Program = std::function<void(Run&)>;
Result explore(const Program& program, Memory memory, Weaken weaken = Weaken::kNothing,
               std::size_t most_runs = 3'000'000);

class Run {
 public:
  Run(std::vector<std::pair<unsigned, unsigned>>& decisions, Memory memory, Weaken weaken)
      : decisions_(decisions), memory_(memory), weaken_(weaken) {}

  /// For the program: a thread, and what must hold when all have ended.
  void thread(std::function<void()> body) { threads_.push_back(std::make_unique<Thread>(std::move(body))); }
  void at_end(std::function<void()> check) { at_end_ = std::move(check); }
  void fail(const std::string& what) {
    if (failure_.empty()) failure_ = what;
  }

  // For the atomics.
  bool is_arm() const { return memory_ == Memory::kArm; }
  Weaken weaken() const { return weaken_; }
  bool acquires(std::memory_order order) const {
    return weaken_ != Weaken::kAcquire &&
           (order == std::memory_order_acquire || order == std::memory_order_acq_rel || is_sequential(order));
  }
  bool releases(std::memory_order order) const {
    return weaken_ != Weaken::kRelease &&
           (order == std::memory_order_release || order == std::memory_order_acq_rel ||
            order == std::memory_order_seq_cst);
  }
  bool is_sequential(std::memory_order order) const {
    return order == std::memory_order_seq_cst && weaken_ != Weaken::kBarriers;
  }

  struct Store {
    Messages* to;
    std::uint64_t value;
    bool is_release;
    unsigned number = 0;
    // With kArm it waits only to be overtaken, or behind stores that do.
    bool may_arrive = false;
  };
  /// Lets others go on; the calling thread's operation follows at once when this returns. needs:
  /// the stores in the buffer that must have arrived before, the thread's own or (kOfAll) every
  /// thread's.
  enum class Touch : std::uint8_t { kNothing, kReads, kWrites, kAll };
  enum class Needs : std::uint8_t { kNothing, kOfLocation, kReleases, kOwn, kOfAll };
  void step(const void* location, Touch touch, Needs needs = Needs::kNothing) {
    if (!running_) return;  // the program sets things up, or looks at the end
    running_->pending = {location, touch, needs};
    running_->outside = std::move(running_->outside).resume();
  }
  bool in_thread() const { return running_ != nullptr; }

  /// The calling thread stores: at once, or by its buffer.
  void store(Messages& to, std::uint64_t value, std::memory_order order) {
    std::deque<Store>& buffer = running_->buffer;
    Store s{&to, value, releases(order), ++stores_};
    if (is_arm()) {
      s.may_arrive = s.is_release ? !buffer.empty() : in_buffer(to) != nullptr;
      if (!s.may_arrive && decide(2) == 0) {
        write(running_, to, value, s.is_release);
        running_->own[&to] = time_;
        return;
      }
    }
    buffer.push_back(s);
  }
  /// Returns the latest store to the location in the calling thread's buffer.
  const Store* in_buffer(const Messages& location) const {
    if (running_)
      for (auto s = running_->buffer.rbegin(); s != running_->buffer.rend(); ++s)
        if (s->to == &location) return &*s;
    return nullptr;
  }
  /// A store of the calling thread that never waits in the buffer.
  void write_at_once(Messages& to, std::uint64_t value, bool is_release) {
    write(running_, to, value, is_release);
  }

  /// Returns the value that a load of the calling thread reads. refused: a value that it does not
  /// read unless it is the latest one (compare and exchange writes then).
  std::uint64_t read(const Messages& from, std::memory_order order, const std::uint64_t* refused = nullptr) {
    if (!running_ || !is_arm()) return from.back().value;
    Thread& t = *running_;
    std::uint64_t least = std::max(t.reached, t.coherent[&from]);
    if (is_sequential(order)) least = std::max(least, t.released);
    std::vector<const Message*>& there = readable_;
    there.clear();
    for (std::size_t i = from.size(); i-- > 0;) {
      if (i + 1 == from.size() || !refused || from[i].value != *refused) there.push_back(&from[i]);
      if (from[i].time <= least) break;
    }
    const Message& m = *there[decide(static_cast<unsigned>(there.size()))];
    note_read(t, from, m.time, order);
    return m.value;
  }
  /// As read, of the latest value.
  std::uint64_t read_latest(const Messages& from, std::memory_order order) {
    if (running_ && is_arm()) note_read(*running_, from, from.back().time, order);
    return from.back().value;
  }
  /// The calling thread's later loads are behind what it has read and written.
  void fence() {
    if (running_) fence(*running_);
  }
  /// Every thread is interrupted by a fence. The calling thread's later loads are behind what the
  /// others had done, and theirs behind what it had.
  void fence_all() {
    if (!running_) return;
    fence(*running_);
    const std::uint64_t own = running_->reached;
    for (auto& t : threads_) {
      fence(*t);
      running_->reached = std::max(running_->reached, t->reached);
      t->reached = std::max(t->reached, own);
    }
  }

  /// The thread waits for others to write something. What it has read last it reads anew.
  void relax() {
    Thread& t = *running_;
    const Messages* const last = t.last_read_from;
    const bool is_stale = is_arm() && last && t.coherent[last] < last->back().time;
    if (is_stale) t.coherent[last] = last->back().time;
    t.relaxing = !is_stale;
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
      std::vector<Action>& actions = actions_;
      find_enabled(actions);
      if (actions.empty()) {
        if (waits_in_vain()) return {};  // as an order in which that store did not wait
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
      std::erase_if(asleep, [&](const Action& z) { return disturb(z, a); });
      if (a.store) arrive(*a.thread, a.store);
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
    bool done = false, relaxing = false;
    struct {
      const void* location;
      Touch touch;
      Needs needs;
    } pending{nullptr, Touch::kNothing, Needs::kNothing};  // what it does when it goes on
    void* asleep_on = nullptr;
    std::deque<Store> buffer;

    // For kArm. Times: before which no load reads; of the latest message that was read, and that
    // was written; of the latest release.
    std::uint64_t reached = 0, read = 0, written = 0, released = 0;
    Times coherent;  // before which no load reads
    Times own;       // of the thread's own store
    const Messages* last_read_from = nullptr;
  };
  struct Action {
    Thread* thread;
    unsigned store;  // the number of the store that arrives; 0: the thread goes on
    const void* location;
    Touch touch;
    bool same(const Action& other) const { return thread == other.thread && store == other.store; }
  };
  bool disturb(const Action& a, const Action& b) const {
    if (a.thread == b.thread || a.touch == Touch::kAll || b.touch == Touch::kAll) return true;
    const bool a_writes = a.touch == Touch::kWrites, b_writes = b.touch == Touch::kWrites;
    if (is_arm() && a_writes && b_writes) return true;  // times are in the order of all writes
    return a.location == b.location && (a_writes || b_writes);
  }

  static bool has_arrived(const Thread& t, Needs needs, const void* location) {
    switch (needs) {
      case Needs::kNothing: return true;
      case Needs::kOfLocation:
        return std::none_of(t.buffer.begin(), t.buffer.end(), [&](auto& s) { return s.to == location; });
      case Needs::kReleases:
        return std::none_of(t.buffer.begin(), t.buffer.end(), [](auto& s) { return s.is_release; });
      default: return t.buffer.empty();
    }
  }
  bool can_go_on(const Thread& t) const {
    if (t.done || t.asleep_on || t.relaxing) return false;
    const auto& p = t.pending;
    if (p.needs == Needs::kOfAll)
      return std::all_of(threads_.begin(), threads_.end(), [](auto& other) { return other->buffer.empty(); });
    return has_arrived(t, p.needs, p.location);
  }
  bool can_arrive(const Thread& t, std::size_t index) const {
    const Store& s = t.buffer[index];
    if (!is_arm()) return index == 0;
    return s.may_arrive && (index == 0 || !s.is_release) &&
           std::none_of(t.buffer.begin(), t.buffer.begin() + static_cast<std::ptrdiff_t>(index),
                        [&](const Store& before) { return before.to == s.to; });
  }
  bool waits_in_vain() const {
    return is_arm() && std::any_of(threads_.begin(), threads_.end(), [](auto& t) {
             return std::any_of(t->buffer.begin(), t->buffer.end(),
                                [](const Store& s) { return !s.may_arrive; });
           });
  }
  void find_enabled(std::vector<Action>& actions) const {
    actions.clear();
    for (auto& t : threads_) {
      if (can_go_on(*t)) actions.push_back({t.get(), 0, t->pending.location, t->pending.touch});
      for (std::size_t i = 0; i < t->buffer.size(); ++i)
        if (can_arrive(*t, i))
          actions.push_back({t.get(), t->buffer[i].number, t->buffer[i].to, Touch::kWrites});
    }
  }

  void start(Thread& t) {
    static boost::context::pooled_fixedsize_stack stacks(1 << 16);
    t.inside = boost::context::fiber(std::allocator_arg, stacks, [&t](boost::context::fiber&& outside) {
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
  void arrive(Thread& t, unsigned number) {
    const auto it =
        std::find_if(t.buffer.begin(), t.buffer.end(), [&](const Store& s) { return s.number == number; });
    const Store s = *it;
    t.buffer.erase(it);
    write(&t, *s.to, s.value, s.is_release);
    t.own[s.to] = time_;
  }
  void write(Thread* t, Messages& to, std::uint64_t value, bool is_release) {
    if (!t || !is_arm()) {
      to.back().value = value;
    } else {
      to.push_back({++time_, value});
      t->written = t->coherent[&to] = time_;
      if (is_release) t->released = time_;
      for (Store& overtaken : t->buffer) overtaken.may_arrive = true;
    }
    for (auto& other : threads_) other->relaxing = false;
  }
  void note_read(Thread& t, const Messages& from, std::uint64_t time, std::memory_order order) {
    t.coherent[&from] = std::max(t.coherent[&from], time);
    t.last_read_from = &from;
    if (t.own[&from] == time) time = 0;  // it may have read its own store before that had arrived
    t.read = std::max(t.read, time);
    if (!acquires(order)) return;
    t.reached = std::max(t.reached, time);
    if (is_sequential(order)) t.reached = std::max(t.reached, t.released);
  }
  static void fence(Thread& t) { t.reached = std::max({t.reached, t.read, t.written}); }
  unsigned decide(unsigned choices) {
    if (choices == 1) return 0;
    if (taken_ == decisions_.size()) decisions_.emplace_back(0, choices);
    return decisions_[taken_++].first;
  }

  std::vector<std::pair<unsigned, unsigned>>& decisions_;  // taken, of how many
  std::size_t taken_ = 0;
  const Memory memory_;
  const Weaken weaken_;
  std::vector<std::unique_ptr<Thread>> threads_;
  Thread* running_ = nullptr;
  unsigned stores_ = 0;
  std::uint64_t time_ = 0;
  std::function<void()> at_end_;
  std::string failure_;
  std::vector<Action> actions_;  // here, so that their memory is used again
  std::vector<const Message*> readable_;
};

inline Result explore(const Program& program, Memory memory, Weaken weaken, std::size_t most_runs) {
  Result result;
  std::vector<std::pair<unsigned, unsigned>> decisions;
  for (;;) {
    {
      Run run(decisions, memory, weaken);
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
  Atomic(T value = T{}) : written_{{0, to_bits(value)}} {}
  Atomic(const Atomic&) = delete;

  T load(std::memory_order order = std::memory_order_seq_cst) const {
    Run& run = *current_run;
    const bool behind_releases = run.is_arm() && run.is_sequential(order);
    run.step(&written_, Run::Touch::kReads, behind_releases ? Run::Needs::kReleases : Run::Needs::kNothing);
    if (const Run::Store* s = run.in_buffer(written_)) return from_bits<T>(s->value);
    return from_bits<T>(run.read(written_, order));
  }
  void store(T value, std::memory_order order = std::memory_order_seq_cst) {
    Run& run = *current_run;
    if (!run.in_thread() || (!run.is_arm() && run.is_sequential(order))) {
      run.step(&written_, Run::Touch::kWrites, Run::Needs::kOwn);
      run.write_at_once(written_, to_bits(value), true);
    } else {
      if (run.is_arm()) run.step(&written_, Run::Touch::kWrites);
      else run.step(nullptr, Run::Touch::kNothing);
      run.store(written_, to_bits(value), order);
    }
  }
  T exchange(T value, std::memory_order order = std::memory_order_seq_cst) {
    return modify([&](T) { return value; }, order);
  }
  T fetch_add(T n, std::memory_order order = std::memory_order_seq_cst) {
    return modify([&](T old) { return static_cast<T>(old + n); }, order);
  }
  T fetch_sub(T n, std::memory_order order = std::memory_order_seq_cst) {
    return modify([&](T old) { return static_cast<T>(old - n); }, order);
  }
  bool compare_exchange_strong(T& expected, T wanted, std::memory_order order, std::memory_order otherwise) {
    Run& run = *current_run;
    const T wished = expected;
    const std::uint64_t wished_bits = to_bits(wished);
    begin_to_modify(order);
    if (run.is_arm()) {
      expected = from_bits<T>(run.read(written_, otherwise, &wished_bits));
      if (expected != wished) return false;
      run.read_latest(written_, order);
    } else {
      expected = from_bits<T>(written_.back().value);
      if (run.weaken() == Weaken::kUpdates) begin_to_modify(order);
      if (expected != wished) return false;
    }
    if (run.is_arm() && run.weaken() == Weaken::kUpdates) begin_to_modify(order);
    run.write_at_once(written_, to_bits(wanted), run.releases(order));
    return true;
  }
  bool compare_exchange_weak(T& expected, T wanted, std::memory_order a, std::memory_order b) {
    return compare_exchange_strong(expected, wanted, a, b);
  }

 private:
  void begin_to_modify(std::memory_order order) {
    Run& run = *current_run;
    const bool needs_all = !run.is_arm() || run.releases(order);
    run.step(&written_, Run::Touch::kWrites, needs_all ? Run::Needs::kOwn : Run::Needs::kOfLocation);
  }
  template <class F>
  T modify(F&& f, std::memory_order order) {
    Run& run = *current_run;
    begin_to_modify(order);
    const T old = from_bits<T>(run.read_latest(written_, order));
    if (run.weaken() == Weaken::kUpdates) begin_to_modify(order);
    run.write_at_once(written_, to_bits(f(old)), run.releases(order));
    return old;
  }
  friend struct ExplorerSync;
  Messages written_;
};

struct ExplorerSync {
  template <class T>
  using Atomic = explorer::Atomic<T>;

  static void relax() { current_run->relax(); }
  static void fence() {
    Run& run = *current_run;
    if (!run.in_thread() || run.weaken() == Weaken::kBarriers) return;
    run.step(nullptr, Run::Touch::kNothing, Run::Needs::kOwn);
    run.fence();
  }
  static void light_fence() {}
  static void heavy_fence() {
    Run& run = *current_run;
    if (run.weaken() == Weaken::kHeavyFence) return;
    run.step(nullptr, Run::Touch::kAll, Run::Needs::kOfAll);
    run.fence_all();
  }
  // The kernel's operations on the queue of sleepers are full fences on both sides.
  static void futex_wait(Atomic<std::uint32_t>& word, std::uint32_t value, std::int64_t) {
    // The kernel looks at the word and puts the thread to sleep in one step.
    Run& run = *current_run;
    run.step(&word.written_, Run::Touch::kReads, Run::Needs::kOwn);
    run.fence();
    if (run.read_latest(word.written_, std::memory_order_relaxed) == value) run.sleep_on(&word);
  }
  static void futex_wake(Atomic<std::uint32_t>& word) {
    // Like a write to the word: who looks at it before goes to sleep, who does so after does not.
    current_run->step(&word.written_, Run::Touch::kWrites, Run::Needs::kOwn);
    current_run->fence();
    current_run->wake(&word);
  }
  static void futex_wake_all(Atomic<std::uint32_t>& word) {
    current_run->step(&word.written_, Run::Touch::kWrites, Run::Needs::kOwn);
    current_run->fence();
    current_run->wake_all(&word);
  }
};

}  // namespace explorer

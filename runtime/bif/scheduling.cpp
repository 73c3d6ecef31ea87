// SPDX-License-Identifier: Apache-2.0
#include "runtime/bif/scheduling.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include "runtime/bif/support.hpp"
#include "vm/base/clock.hpp"
#include "vm/lifecycle/exit.hpp"
#include "vm/nif/dirty.hpp"
#include "vm/process/dirty_job.hpp"
#include "vm/process/process_state.hpp"
#include "vm/sched/online.hpp"
#include "vm/sched/run_queue.hpp"
#include "vm/sched/turns.hpp"
#include "vm/term/big.hpp"

namespace vmrun {

// ---- Run queues ---------------------------------------------------------------------------------

namespace {

std::vector<Word> lengths(bool io, bool running) {
  std::vector<Word> all;
  for (unsigned i = 0; i < scheduler_count(); ++i) {
    const Scheduler& s = scheduler_at(i);
    const Word waiting =
        &s == this_scheduler() ? waiting_processes(s) : s.queue_length.load(std::memory_order_relaxed);
    all.push_back(waiting + (running && !s.idle.load(std::memory_order_relaxed)));
  }
  for (const DirtyKind kind : {DirtyKind::kCpu, DirtyKind::kIo}) {
    if (kind == DirtyKind::kIo && !io) break;
    const DirtyLoad load = dirty_load(kind);
    all.push_back(load.waiting + (running ? load.running : 0));
  }
  return all;
}

}  // namespace

Term queue_lengths(Process& p, bool io, bool running) {
  ListBuilder list(p.heap);
  for (const Word n : lengths(io, running)) list.add(make_unsigned(p.heap, n));
  return list.finish();
}

Term queue_lengths_tuple(Process& p) {
  const std::vector<Word> all = lengths(true, false);
  Term* hp = p.heap.alloc(all.size() + 1);
  hp[0] = Term::header(Term::Sub::kTuple, all.size());
  for (std::size_t i = 0; i < all.size(); ++i) hp[i + 1] = Term::small(static_cast<SWord>(all[i]));
  return Term::boxed(hp);
}

Word total_queue_length(bool io, bool running) {
  Word sum = 0;
  for (const Word n : lengths(io, running)) sum += n;
  return sum;
}

// ---- Flags that are set as long as a process lives that has set them ----------------------------

namespace {

/// The processes that have set a flag, and how many times.
class Holders {
 public:
  void add(Process& p) {
    ++holders_[p.id.raw()];
    extra_of(p).holds_flags = true;
  }
  void remove(const Process& p) {
    const auto found = holders_.find(p.id.raw());
    if (found != holders_.end() && --found->second == 0) holders_.erase(found);
  }
  void forget(const Process& p) { holders_.erase(p.id.raw()); }
  bool any() const { return !holders_.empty(); }
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const auto& [pid, times] : holders_) visit(Term::from_raw(pid));
  }

 private:
  std::map<Word, unsigned> holders_;  // key: pid
};

// Guards everything below.
std::mutex mutex;
Holders measuring, blocking, blocking_normal;

bool any_is_blocked() { return blocking.any() || blocking_normal.any(); }
void block_as_wished() {
  block_schedulers(any_is_blocked());
  take_turns(blocking.any());
}

// The readings at the beginning of the measurement.
struct WallTimeBase {
  Word at_ns = 0;
  std::vector<Stopwatch::Reading> idle, busy_cpu, busy_io;
} base;

void begin_to_measure() {
  base = {.at_ns = monotonic_ns(),
          .idle = {},
          .busy_cpu = dirty_busy_times(DirtyKind::kCpu),
          .busy_io = dirty_busy_times(DirtyKind::kIo)};
  for (unsigned i = 0; i < scheduler_count(); ++i) base.idle.push_back(scheduler_at(i).idle_time.read());
}

}  // namespace

void release_flags(Process& p) {
  std::lock_guard guard(mutex);
  measuring.forget(p);
  if (!any_is_blocked()) return;
  blocking.forget(p);
  blocking_normal.forget(p);
  block_as_wished();
}

// ---- How long each has been busy ----------------------------------------------------------------

namespace {

/// {Number, ActiveTime, TotalTime}, in nanoseconds.
void add_time(Process& p, ListBuilder& list, unsigned number, Word active, Word total) {
  list.add(
      new_tuple(p.heap, Term::small(number), make_unsigned(p.heap, active), make_unsigned(p.heap, total)));
}

/// Adds the times of the threads of one kind. Threads that have not been started have been idle.
void add_dirty_times(Process& p, ListBuilder& list, unsigned before, unsigned count, DirtyKind kind,
                     std::vector<Stopwatch::Reading> then) {
  std::vector<Stopwatch::Reading> now = dirty_busy_times(kind);
  then.resize(count, {.at_ns = base.at_ns});
  now.resize(count, {.at_ns = monotonic_ns()});
  for (unsigned i = 0; i < count; ++i)
    add_time(p, list, before + i + 1, now[i].elapsed_ns - then[i].elapsed_ns, now[i].at_ns - then[i].at_ns);
}

}  // namespace

Term scheduler_wall_time(Process& p, bool io) {
  std::lock_guard guard(mutex);
  if (!measuring.any()) return atoms::undefined;
  ListBuilder list(p.heap);
  const unsigned normal = scheduler_count(), cpu = dirty_cpu_schedulers();
  for (unsigned i = 0; i < normal; ++i) {
    const Stopwatch::Reading now = scheduler_at(i).idle_time.read(), then = base.idle[i];
    const Word total = now.at_ns - then.at_ns, idle = now.elapsed_ns - then.elapsed_ns;
    add_time(p, list, i + 1, total - idle, total);
  }
  add_dirty_times(p, list, normal, cpu, DirtyKind::kCpu, base.busy_cpu);
  if (io) add_dirty_times(p, list, normal + cpu, dirty_io_schedulers(), DirtyKind::kIo, base.busy_io);
  return list.finish();
}

// ---- Flags --------------------------------------------------------------------------------------

namespace {

Term set_wall_time(Process& p, Term value) {
  if (value != atoms::true_ && value != atoms::false_) return raise_badarg(p);
  std::lock_guard guard(mutex);
  const bool before = measuring.any();
  if (value == atoms::false_) {
    measuring.remove(p);
  } else {
    if (!before) begin_to_measure();
    measuring.add(p);
  }
  return bool_term(before);
}

/// Takes a proportional number of dirty schedulers offline or online too.
void set_dirty_share(unsigned online, unsigned before) {
  const unsigned dirty = dirty_cpu_schedulers_online();
  set_dirty_cpu_schedulers_online(
      std::clamp(dirty * online / before, 1u, std::min(online, dirty_cpu_schedulers())));
}

/// Runs on a dirty scheduler.
Term set_online(Process&, const Term* a) {
  const auto online = static_cast<unsigned>(a[1].small_value());
  const unsigned before = set_schedulers_online(online);
  if (online != before) set_dirty_share(online, before);
  return Term::small(before);
}
Term set_blocking(Process& p, const Term* a) {
  {
    std::lock_guard guard(mutex);
    const std::string_view wish = atom_text(a[1]);
    if (wish == "block") blocking.add(p);
    else if (wish == "unblock") blocking.remove(p);
    else if (wish == "block_normal") blocking_normal.add(p);
    else blocking_normal.remove(p);
    block_as_wished();
  }
  await_turn();
  await_schedulers();
  return multi_scheduling();
}

}  // namespace

bool is_blocked(Blocked what) {
  std::lock_guard guard(mutex);
  return what == Blocked::kAll ? blocking.any() : any_is_blocked();
}

Term multi_scheduling() {
  std::lock_guard guard(mutex);
  if (blocking.any()) return intern_atom("blocked");
  if (blocking_normal.any()) return intern_atom("blocked_normal");
  return intern_atom(scheduler_count() > 1 ? "enabled" : "disabled");
}

namespace {

Term pids_of(const Holders& holders, Heap& heap) {
  std::lock_guard guard(mutex);
  ListBuilder list(heap);
  holders.for_each([&](Term pid) { list.add(pid); });
  return list.finish();
}

bool is_blocking_wish(Term wish) {
  const std::string_view text = wish.is_atom() ? atom_text(wish) : std::string_view();
  return text == "block" || text == "unblock" || text == "block_normal" || text == "unblock_normal";
}

}  // namespace

Term blockers(Process& p) { return pids_of(blocking, p.heap); }
Term normal_blockers(Process& p) { return pids_of(blocking_normal, p.heap); }

std::optional<Term> set_scheduling_flag(Process& p, const Term* a) {
  const std::string_view name = atom_text(a[0]);
  SWord n;
  // A scheduler must not wait for other schedulers, so these run on an I/O dirty scheduler.
  if (name == "schedulers_online")
    return small_in_range(a[1], 1, scheduler_count(), &n) ? run_on_dirty(p, set_online, a, 2, DirtyKind::kIo)
                                                          : raise_badarg(p);
  if (name == "multi_scheduling")
    return is_blocking_wish(a[1]) ? run_on_dirty(p, set_blocking, a, 2, DirtyKind::kIo) : raise_badarg(p);
  if (name == "dirty_cpu_schedulers_online") {
    const unsigned most = std::min(dirty_cpu_schedulers(), schedulers_online());
    if (!small_in_range(a[1], 1, most, &n)) return raise_badarg(p);
    const unsigned before = dirty_cpu_schedulers_online();
    set_dirty_cpu_schedulers_online(static_cast<unsigned>(n));
    return Term::small(before);
  }
  if (name == "scheduler_wall_time") return set_wall_time(p, a[1]);
  return {};
}

}  // namespace vmrun

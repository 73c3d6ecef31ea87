#include "probes/attach/firing.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "probes/attach/host.hpp"
#include "probes/inside.hpp"
#include "probes/listing.hpp"
#include "vm/base/sync.hpp"
#include "vm/sched/scheduler.hpp"

namespace vmrun::attach {
namespace {

using Sessions = std::vector<d::Session*>;

// Replaced as a whole; the old one is freed when nobody is inside a firing that has seen it.
std::atomic<const Sessions*> sessions{nullptr};

std::atomic<FiringThread*> threads{nullptr};
std::atomic<std::uint64_t> last_number{0};
constinit thread_local FiringThread* this_thread = nullptr;

/// Gives it back when the thread ends.
struct Return {
  FiringThread* thread = nullptr;
  ~Return() {
    if (!thread) return;
    this_thread = nullptr;
    probe::firing_counts = nullptr;
    // Pairs with the taking: what this thread has written comes before.
    thread->taken.store(false, std::memory_order_release);
  }
};
thread_local Return at_end;

FiringThread* unused_thread() {
  for (FiringThread* t = threads.load(std::memory_order_acquire); t; t = t->next) {
    bool taken = false;
    if (!t->taken.load(std::memory_order_relaxed) &&
        t->taken.compare_exchange_strong(taken, true, std::memory_order_acquire, std::memory_order_relaxed))
      return t;
  }
  auto* t = new FiringThread;
  // Released for who walks the list; see wait_for_firings for when it must be seen.
  t->next = threads.load(std::memory_order_relaxed);
  while (!threads.compare_exchange_weak(t->next, t, std::memory_order_seq_cst, std::memory_order_relaxed)) {}
  return t;
}

[[gnu::cold, gnu::noinline]] FiringThread& join() {
  FiringThread* t = unused_thread();
  t->number = last_number.fetch_add(1, std::memory_order_relaxed) + 1;
  t->ended_self = 0;
  at_end.thread = t;
  return *(this_thread = t);
}

/// The process that has ended in this thread does nothing more once another one fires here.
void forget_ended(FiringThread& t, const Sessions& to, std::uint64_t self) {
  if (!t.ended_self || t.ended_self == self) return;
  for (d::Session* s : to) s->forget_self(t.ended_self);
  t.ended_self = 0;
}

unsigned find_process_exit() {
  unsigned n = 0;
  while (std::strcmp(probe::probe_rows()[n].name, "process__exit") != 0) ++n;
  return n;
}
unsigned exit_probe = ~0u;  // while ends are told

/// A firing of this thread: does what is to be done in it, unless it is inside of one.
template <class Body>
[[gnu::always_inline]] inline void in_firing(Body&& body) {
  FiringThread& t = firing_thread();
  const std::uint64_t n = t.firings.load(std::memory_order_relaxed);
  if (n & 1) return;  // what a firing does fires nothing
  t.firings.store(n + 1, std::memory_order_relaxed);
  // Uneven against wait_for_firings: either that sees that we are inside, or we see what it
  // changed.
  ThreadSync::light_fence();
  body(t);
  // Pairs with the load in wait_for_firings: all of the firing comes before.
  t.firings.store(n + 2, std::memory_order_release);
}

void deliver(const d::Firing& f) {
  in_firing([&](FiringThread& t) {
    const Sessions* to = sessions.load(std::memory_order_acquire);
    if (!to) return;
    if (exit_probe != ~0u) [[unlikely]]
      forget_ended(t, *to, self_key());
    for (d::Session* s : *to) s->fire(f);
    if (f.probe == exit_probe) [[unlikely]]
      t.ended_self = self_key();
  });
}

// ---- Firings that are only counted --------------------------------------------------------------

std::uint64_t* make_counts() {
  FiringThread& t = firing_thread();
  std::uint64_t* counts = t.counts.load(std::memory_order_relaxed);
  // A thread that takes over from one that has ended goes on with its numbers. Released for who
  // adds up.
  if (!counts)
    t.counts.store(counts = new std::uint64_t[probe::probe_rows().size()](), std::memory_order_release);
  return counts;
}

void add_up(std::span<const std::uint32_t> probes, std::span<std::uint64_t> sums) {
  std::ranges::fill(sums, 0);
  for (const FiringThread* t = threads.load(std::memory_order_acquire); t; t = t->next) {
    const std::uint64_t* counts = t->counts.load(std::memory_order_acquire);
    for (std::size_t i = 0; counts && i < probes.size(); ++i)
      sums[i] += __atomic_load_n(counts + probes[i], __ATOMIC_RELAXED);
  }
}

void fire(unsigned probe, unsigned argument_count, const std::uint64_t* words) {
  deliver({probe, argument_count, words, kinds_by_probe[probe]});
}

// ---- profile-N: a sample of each scheduler ------------------------------------------------------

struct Sampler {
  std::atomic<d::Session*> session{nullptr};
  std::uint32_t probe = 0;  // while there is no session the controlling thread may write it
};
constexpr unsigned kSamplers = 64;
Sampler samplers[kSamplers];

// By scheduler, a bit for each sampler that is due there. Who clears it fires: the scheduler where
// its slice ends, or the controlling thread in the stead of one that has nothing to do.
std::atomic<std::uint64_t> due[kMaxSchedulers];

void sample() {
  std::atomic<std::uint64_t>& due_here = due[this_core()->number - 1];
  if (!due_here.load(std::memory_order_relaxed)) return;
  in_firing([&](FiringThread& t) {
    t.at_rest = true;
    // Pairs with sample_everywhere: the sampler is filled in.
    for (std::uint64_t bits = due_here.exchange(0, std::memory_order_acquire); bits; bits &= bits - 1) {
      const Sampler& sampler = samplers[std::countr_zero(bits)];
      if (d::Session* s = sampler.session.load(std::memory_order_acquire))
        s->fire({sampler.probe, 0, nullptr, nullptr});
    }
    t.at_rest = false;
  });
}

/// That of the session's probe, or else one to fill in; kSamplers: there is neither.
unsigned sampler_for(const d::Session& session, std::uint32_t probe) {
  unsigned unused = kSamplers;
  for (unsigned i = kSamplers; i-- > 0;) {
    const d::Session* of = samplers[i].session.load(std::memory_order_relaxed);
    if (of == &session && samplers[i].probe == probe) return i;
    if (!of) unused = i;
  }
  return unused;
}

void remove_samplers(const d::Session& session) {
  std::uint64_t gone = 0;
  for (unsigned i = 0; i < kSamplers; ++i) {
    if (samplers[i].session.load(std::memory_order_relaxed) != &session) continue;
    samplers[i].session.store(nullptr, std::memory_order_relaxed);
    probe::lower_watch("slice");
    gone |= std::uint64_t{1} << i;
  }
  if (!gone) return;
  for (auto& bits : due) bits.fetch_and(~gone, std::memory_order_relaxed);
  wait_for_firings();  // who has cleared one of them before, and may look at the sampler still
}

/// In the controlling thread: the scheduler has nothing to do.
void fire_instead_of(const Scheduler& idle, d::Session& session, std::uint32_t probe) {
  FiringThread& t = firing_thread();
  t.instead_of = idle.number;
  session.fire({probe, 0, nullptr, nullptr});
  t.instead_of = 0;
}

[[maybe_unused]] const bool filled_in =
    (probe::fire_inside = fire, probe::counts_of_thread = make_counts, slice_stopped = sample, true);

void replace_sessions(std::unique_ptr<const Sessions> by) {
  const Sessions* old = sessions.load(std::memory_order_relaxed);
  sessions.store(by.release(), std::memory_order_seq_cst);
  wait_for_firings();
  delete old;
}

}  // namespace

void fire_at(const d::Firing& f) { deliver(f); }

FiringThread& firing_thread() { return this_thread ? *this_thread : join(); }

void add_session(d::Session& session) {
  const Sessions* old = sessions.load(std::memory_order_relaxed);
  auto all = std::make_unique<Sessions>(old ? *old : Sessions());
  all->push_back(&session);
  replace_sessions(std::move(all));
}

void remove_session(d::Session& session) {
  remove_samplers(session);
  const Sessions* old = sessions.load(std::memory_order_relaxed);
  if (!old) return;
  auto all = std::make_unique<Sessions>(*old);
  std::erase(*all, &session);
  if (all->size() == old->size()) return;
  if (all->empty()) all.reset();
  replace_sessions(std::move(all));
}

namespace {
std::vector<unsigned> counted_by;  // sessions, by probe
}

void enable_count(std::uint32_t probe) {
  counted_by.resize(probe::probe_rows().size());
  if (counted_by[probe]++ == 0) probe::count_inside(probe);
}

void disable_count(std::uint32_t probe) {
  if (--counted_by[probe] == 0) probe::stop_counting_inside(probe);
}

void read_counts(std::span<const std::uint32_t> probes, std::span<std::uint64_t> counts) {
  // Who is interrupted in the middle sees the later ones much later: the quickest of a few counts.
  constexpr unsigned kTries = 4;
  constexpr auto kQuick = std::chrono::microseconds(20);
  auto best = std::chrono::steady_clock::duration::max();
  std::vector<std::uint64_t> sums(counts.size());
  for (unsigned i = 0; i < kTries && best > kQuick; ++i) {
    const auto start = std::chrono::steady_clock::now();
    add_up(probes, sums);
    const auto took = std::chrono::steady_clock::now() - start;
    if (took >= best) continue;
    best = took;
    std::ranges::copy(sums, counts.begin());
  }
}

void tell_ends(bool tell) {
  static const unsigned probe = find_process_exit();
  if (tell == (exit_probe != ~0u)) return;
  // Read in firings without order: to forget one sooner or later is all the same.
  __atomic_store_n(&exit_probe, tell ? probe : ~0u, __ATOMIC_RELAXED);
  (tell ? probe::raise_inside : probe::lower_inside)(probe);
}

void wait_for_firings() {
  ThreadSync::heavy_fence();
  for (const FiringThread* t = threads.load(std::memory_order_seq_cst); t; t = t->next) {
    const std::uint64_t seen = t->firings.load(std::memory_order_acquire);
    if (!(seen & 1)) continue;
    while (t->firings.load(std::memory_order_acquire) == seen) std::this_thread::yield();
  }
}

std::uint64_t firings() {
  std::uint64_t n = 0;
  for (const FiringThread* t = threads.load(std::memory_order_acquire); t; t = t->next)
    n += t->firings.load(std::memory_order_relaxed) / 2;
  return n;
}

bool sample_everywhere(d::Session& session, std::uint32_t probe) {
  const unsigned i = sampler_for(session, probe);
  if (i == kSamplers) return false;
  if (!samplers[i].session.load(std::memory_order_relaxed)) {
    samplers[i].probe = probe;
    samplers[i].session.store(&session, std::memory_order_release);
    probe::raise_watch("slice");
  }
  const std::uint64_t bit = std::uint64_t{1} << i;
  for (unsigned n = 0; n < schedulers_started(); ++n) {
    const Scheduler& s = scheduler_at(n);
    if (s.asked.load(std::memory_order_relaxed) & kOffline) continue;
    due[n].fetch_or(bit, std::memory_order_release);
    if (s.idle.load(std::memory_order_relaxed) && due[n].fetch_and(~bit, std::memory_order_relaxed) & bit)
      fire_instead_of(s, session, probe);
  }
  return true;
}

}  // namespace vmrun::attach

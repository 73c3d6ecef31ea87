// SPDX-License-Identifier: Apache-2.0
#include "probes/attach/firing.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "probes/attach/machine_host.hpp"
#include "probes/inside.hpp"
#include "probes/probe_notes.hpp"
#include "vm/base/sync.hpp"

namespace vmrun::attach {
namespace {

using Sessions = std::vector<d::Session*>;

// The list is replaced as a whole. The old one is freed when no thread is inside a firing that has
// seen it.
std::atomic<const Sessions*> sessions{nullptr};

std::atomic<FiringThread*> threads{nullptr};
std::atomic<std::uint64_t> last_number{0};
constinit thread_local FiringThread* this_thread = nullptr;

/// Makes the object free for another thread when this thread ends.
struct Return {
  FiringThread* thread = nullptr;
  ~Return() {
    if (!thread) return;
    this_thread = nullptr;
    probe::firing_counts = nullptr;
    // The store pairs with the exchange that takes the object: what this thread has written comes
    // before.
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
  // The exchange releases the object to threads that walk the list. wait_for_firings says when they
  // must see it.
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

/// A process has ended in this thread. It does nothing more once another one fires here, so its
/// variables go.
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
// Set while the ends of processes are reported. Firings read it without order, because it does not
// matter when exactly they see the change.
std::atomic<unsigned> exit_probe{~0u};

/// Runs a firing of this thread, unless the thread is inside one already.
template <class Body>
[[gnu::always_inline]] inline void in_firing(Body&& body) {
  FiringThread& t = firing_thread();
  const std::uint64_t n = t.firings.load(std::memory_order_relaxed);
  if (n & 1) return;  // a firing within a firing does nothing
  t.firings.store(n + 1, std::memory_order_relaxed);
  // This is an asymmetric fence with wait_for_firings. Either wait_for_firings sees that we are
  // inside, or we see what its caller changed.
  ThreadSync::light_fence();
  body(t);
  // The store pairs with the load in wait_for_firings: all of the firing comes before.
  t.firings.store(n + 2, std::memory_order_release);
}

/// Gives the sessions what `make_firing` returns. It is called after the sessions have been loaded:
/// what it reads was written before they were added.
template <class MakeFiring>
void deliver(MakeFiring make_firing) {
  in_firing([&](FiringThread& t) {
    const Sessions* to = sessions.load(std::memory_order_acquire);
    if (!to) return;
    const d::Firing f = make_firing();
    const unsigned exits = exit_probe.load(std::memory_order_relaxed);
    if (exits != ~0u) [[unlikely]]
      forget_ended(t, *to, self_key());
    for (d::Session* s : *to) s->fire(f);
    if (f.probe == exits) [[unlikely]]
      t.ended_self = self_key();
  });
}

// ---- Firings that are only counted --------------------------------------------------------------

}  // namespace

std::uint64_t* make_counts() {
  FiringThread& t = firing_thread();
  std::uint64_t* counts = t.counts.load(std::memory_order_relaxed);
  // A thread that takes over from one that has ended goes on with its numbers. The store releases
  // them to the thread that adds up.
  if (!counts)
    t.counts.store(counts = new std::uint64_t[probe::probe_rows().size()](), std::memory_order_release);
  return counts;
}

namespace {

void add_up(std::span<const std::uint32_t> probes, std::span<std::uint64_t> sums) {
  std::ranges::fill(sums, 0);
  for (const FiringThread* t = threads.load(std::memory_order_acquire); t; t = t->next) {
    const std::uint64_t* counts = t->counts.load(std::memory_order_acquire);
    for (std::size_t i = 0; counts && i < probes.size(); ++i)
      sums[i] += __atomic_load_n(counts + probes[i], __ATOMIC_RELAXED);
  }
}

void replace_sessions(std::unique_ptr<const Sessions> by) {
  const Sessions* old = sessions.load(std::memory_order_relaxed);
  sessions.store(by.release(), std::memory_order_seq_cst);
  wait_for_firings();
  delete old;
}

}  // namespace

void fire_inside(unsigned probe, unsigned argument_count, const std::uint64_t* words) {
  deliver([=] { return d::Firing{probe, argument_count, words, kinds_by_probe[probe]}; });
}

void fire_at(const d::Firing& f) {
  deliver([&] { return f; });
}

bool is_firing() { return firing_thread().firings.load(std::memory_order_relaxed) & 1; }

void fire_sample(d::Session& session, std::uint32_t probe, const Sample& sample, std::uint32_t times) {
  in_firing([&](FiringThread& t) {
    t.sample = &sample;
    for (std::uint32_t i = 0; i < times; ++i) session.fire({probe, 0, nullptr, nullptr});
    t.sample = nullptr;
  });
}

FiringThread& firing_thread() { return this_thread ? *this_thread : join(); }

void add_session(d::Session& session) {
  const Sessions* old = sessions.load(std::memory_order_relaxed);
  auto all = std::make_unique<Sessions>(old ? *old : Sessions());
  all->push_back(&session);
  replace_sessions(std::move(all));
}

void remove_session(d::Session& session) {
  const Sessions* old = sessions.load(std::memory_order_relaxed);
  if (!old) return;
  auto all = std::make_unique<Sessions>(*old);
  std::erase(*all, &session);
  if (all->size() == old->size()) return;
  if (all->empty()) all.reset();
  replace_sessions(std::move(all));
}

namespace {
std::vector<unsigned> counted_by;  // how many sessions count a probe, by probe
}

void enable_count(std::uint32_t probe) {
  counted_by.resize(probe::probe_rows().size());
  if (counted_by[probe]++ == 0) probe::count_inside(probe);
}

void disable_count(std::uint32_t probe) {
  if (--counted_by[probe] == 0) probe::stop_counting_inside(probe);
}

void read_counts(std::span<const std::uint32_t> probes, std::span<std::uint64_t> counts) {
  // A thread that is interrupted in the middle reads the later counts much later. So the quickest
  // of a few tries is taken.
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
  if (tell == (exit_probe.load(std::memory_order_relaxed) != ~0u)) return;
  exit_probe.store(tell ? probe : ~0u, std::memory_order_relaxed);
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

}  // namespace vmrun::attach

// SPDX-License-Identifier: Apache-2.0
#include "vm/sched/run_queue.hpp"

#include <algorithm>

#include "vm/base/small_limits.hpp"
#include "vm/process/priority_boost.hpp"
#include "vm/sched/bound.hpp"
#include "vm/sched/low_turn.hpp"

namespace vmrun {

namespace {

constexpr unsigned kMostOffered = usual_or_small<unsigned>(64, 2);  // at a time
constexpr unsigned kRandomAmong = 8;                                // +random-sched picks among so many

void set_runnable(Scheduler& s, unsigned n) { s.runnable.store(n, std::memory_order_relaxed); }

template <class T>
void enqueue_all(Scheduler& to, T* it) {
  while (it) {
    T* next = it->next_in_queue;
    enqueue(to, *it);
    it = next;
  }
}

RunList<Process>& queue_to_run(Scheduler& s) {
  if (s.queues[3].count) return s.queues[3];
  if (s.queues[2].count) return s.queues[2];
  return s.queues[0].count && takes_low_turn(s.low_credit, s.queues[0].count, s.queues[1].count)
             ? s.queues[0]
             : s.queues[1];
}

/// Puts what is offered, and has not been taken, back in front of its queue. Called with the queue
/// locked.
void take_back(Scheduler& s) {
  const RunList<Process> mine = s.offered;
  s.offered = {};
  // A thief takes all of it, and only the owner offers. So it is either still ours, or gone.
  if (!s.surplus.exchange(nullptr, std::memory_order_acquire)) return;
  s.queues[s.offered_priority].prepend(mine);
  set_runnable(s, s.runnable.load(std::memory_order_relaxed) + mine.count);
}

/// What is offered: half of the most urgent queue that has two processes, from behind those that
/// run before. A single process that is more urgent than all others runs here, and then the most
/// urgent one behind it is offered if it is alone too.
struct Choice {
  unsigned priority, skip, count, before;  // before: so many run before it
};
Choice choose(const Scheduler& s) {
  unsigned above = 0;
  for (unsigned priority = 4;;) {
    const unsigned n = s.queues[--priority].count;
    if (n == 1 && above) return {priority, 0, 1, above};
    if (n < 2) {
      above += n;
      continue;
    }
    const unsigned skip = std::min((n + 1) / 2, kMostOffered);
    return {priority, skip, std::min(n - skip, kMostOffered), above + skip};
  }
}

}  // namespace

void enqueue_after_other(Scheduler& s, Process& p) {
  s.queue_lock.wait();
  enqueue_and_unlock(s, p);
}

void take_inbox(Scheduler& s) { enqueue_all(s, s.inbox.take()); }
void take_port_inbox(Scheduler& s) { enqueue_all(s, s.port_inbox.take()); }

std::uint64_t next_random(std::uint64_t& state) {  // xorshift64*
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return state * 0x2545F4914F6CDD1Du;
}

namespace {

/// Moves one of the first few to the front.
template <class Item>
void skip_some(RunList<Item>& queue, std::uint64_t& state) {
  for (std::uint64_t skip = next_random(state) % std::min(queue.count, kRandomAmong); skip; --skip)
    queue.push(queue.pop());
}

}  // namespace

Process* pick_among_all(Scheduler& s, bool random) {
  if (s.offered.count) {
    if (s.picks_before_offered == 0 || s.runnable.load(std::memory_order_relaxed) == 0) take_back(s);
    else --s.picks_before_offered;
  }
  const unsigned runnable = s.runnable.load(std::memory_order_relaxed);
  if (runnable == 0) return nullptr;
  RunList<Process>& queue = queue_to_run(s);
  if (random) skip_some(queue, s.random_state);
  set_runnable(s, runnable - 1);
  return &queue.pop();
}

RunnablePort* pick_port(Scheduler& s, bool random) {
  std::lock_guard guard(s.queue_lock);
  if (!s.ports.count) return nullptr;
  if (random) [[unlikely]]
    skip_some(s.ports, s.random_state);
  RunnablePort& p = s.ports.pop();
  s.runnable_ports.store(s.ports.count, std::memory_order_relaxed);
  return &p;
}

bool offer(Scheduler& s) {
  if (s.offered.count) {
    if (s.surplus.load(std::memory_order_relaxed)) return true;
    s.offered = {};  // another scheduler has taken it
  }
  std::lock_guard guard(s.queue_lock);
  const unsigned runnable = s.runnable.load(std::memory_order_relaxed);
  if (runnable < 2) return false;
  const Choice c = choose(s);
  s.offered = s.queues[c.priority].cut(c.skip, c.count);
  s.offered_priority = static_cast<std::uint8_t>(c.priority);
  if (processes_are_bound.load(std::memory_order_relaxed)) [[unlikely]] {
    keep_bound(s, s.offered, c.priority, c.skip);
    if (!s.offered.count) return false;
  }
  s.picks_before_offered = c.before;
  set_runnable(s, runnable - s.offered.count);
  // Release hands the processes over. Sequentially consistent, for schedulers that fall asleep:
  // either the other scheduler sees what is offered, or this one sees that it sleeps.
  s.surplus.store(s.offered.first, std::memory_order_seq_cst);
  return true;
}

unsigned steal(Scheduler& from, Scheduler& to) {
  // A load first: an exchange would take the cache line away from its owner.
  if (!from.surplus.load(std::memory_order_relaxed)) return 0;
  unsigned n = 0;
  for (Process* p = from.surplus.exchange(nullptr, std::memory_order_acquire); p; ++n) {
    Process* next = p->next_in_queue;
    boost_as_requested(*p);
    enqueue(to, *p);
    p = next;
  }
  return n;
}

bool begins_next(Scheduler& s) {
  std::lock_guard guard(s.queue_lock);
  unsigned priority = 4;
  while (priority && !s.queues[priority - 1].count) --priority;
  return priority && !s.queues[priority - 1].first->has_begun.load(std::memory_order_relaxed);
}

void boost_waiting(Scheduler& s) {
  take_inbox(s);
  std::lock_guard guard(s.queue_lock);
  if (s.offered.count) take_back(s);
  for (unsigned priority = 0; priority < 3; ++priority) {
    RunList<Process> left;
    for (RunList<Process>& queue = s.queues[priority]; queue.count;) {
      Process& p = queue.pop();
      boost_as_requested(p);
      (p.priority == priority ? left : s.queues[p.priority]).push(p);
    }
    s.queues[priority] = left;
  }
}

bool has_waiting(const Scheduler& from) {
  return from.runnable.load(std::memory_order_relaxed) ||
         from.runnable_ports.load(std::memory_order_relaxed) ||
         from.surplus.load(std::memory_order_relaxed) || !from.inbox.seems_empty() ||
         !from.port_inbox.seems_empty();
}

namespace {

/// Leaves bound processes where they wait, as no other scheduler may run them. Returns how many
/// there are.
unsigned leave_bound(Scheduler& from, RunList<Process> (&taken)[4]) {
  if (!processes_are_bound.load(std::memory_order_relaxed)) [[likely]]
    return 0;
  unsigned left = 0;
  for (unsigned priority = 0; priority < 4; ++priority) {
    keep_bound(from, taken[priority], priority, 0);
    left += from.queues[priority].count;
  }
  return left;
}

void take_arrivals(Scheduler& from, Scheduler& to) {
  for (Process* p = from.inbox.take(); p;) {
    Process* next = p->next_in_queue;
    if (is_bound_to_another(*p, to)) hand_to_bound(*p);
    else enqueue(to, *p);
    p = next;
  }
}

}  // namespace

void seize(Scheduler& from, Scheduler& to, bool only_ports) {
  RunList<Process> queues[4];
  RunList<RunnablePort> ports;
  if (from.queue_lock.try_lock_by_other()) {
    std::swap(ports, from.ports);
    from.runnable_ports.store(0, std::memory_order_relaxed);
    if (!only_ports) {
      std::swap(queues, from.queues);
      set_runnable(from, leave_bound(from, queues));
    }
    from.queue_lock.unlock_by_other();
  }
  enqueue_all(to, ports.first);
  enqueue_all(to, from.port_inbox.take());
  if (only_ports) return;
  for (unsigned priority = 4; priority-- > 0;) {
    for (Process* p = queues[priority].first; p; p = p->next_in_queue) boost_as_requested(*p);
    enqueue_all(to, queues[priority].first);
  }
  steal(from, to);
  take_arrivals(from, to);
}

}  // namespace vmrun

#pragma once

#include <mutex>

#include "vm/sched/scheduler.hpp"

/// The run queue of one scheduler, and the three ways in which its work gets to others: it offers a
/// part of it (offer, and steal by the other one), it is handed something (inbox), or it has not
/// come round for a while and all it has is taken away (seize). See scheduler.cpp for when.
namespace vmrun {

/// Of enqueue, when somebody is taking work away at this moment.
void enqueue_after_other(Scheduler& s, Process& p);
/// With the queue locked, which it unlocks.
inline void enqueue_and_unlock(Scheduler& s, Process& p) {
  s.queues[p.priority].push(p);
  s.runnable.store(s.runnable.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  s.queue_lock.unlock();
}
/// Owner only, as everything here but steal and seize. On the way of every message that wakes
/// somebody: what is rare is called last, so that nothing need be saved for it.
inline void enqueue(Scheduler& s, Process& p) {
  if (!s.queue_lock.try_lock()) [[unlikely]]
    return enqueue_after_other(s, p);
  enqueue_and_unlock(s, p);
}
inline void enqueue(Scheduler& s, RunnablePort& p) {
  std::lock_guard guard(s.queue_lock);
  s.ports.push(p);
  s.runnable_ports.store(s.ports.count, std::memory_order_relaxed);
}

/// What the owner has, without what lies in its inboxes.
inline unsigned waiting_processes(const Scheduler& s) {
  return s.runnable.load(std::memory_order_relaxed) + s.offered.count;
}
inline unsigned waiting_ports(const Scheduler& s) { return s.runnable_ports.load(std::memory_order_relaxed); }

/// What others have handed over goes to the queue.
void take_inbox(Scheduler& s);
void take_port_inbox(Scheduler& s);

/// Of pick, with the queue locked: when it is not simply the first of normal priority.
Process* pick_among_all(Scheduler& s, bool random);

/// The process to run next; nullptr: there is none. random: one of the first few.
inline Process* pick(Scheduler& s, bool random) {
  std::lock_guard guard(s.queue_lock);
  RunList<Process>& normal = s.queues[1];
  const unsigned runnable = s.runnable.load(std::memory_order_relaxed);
  if ((runnable ^ normal.count) | s.offered.count | (random ? 1 : 0)) [[unlikely]]
    return pick_among_all(s, random);
  if (runnable == 0) return nullptr;
  s.runnable.store(runnable - 1, std::memory_order_relaxed);
  return &normal.pop();
}
RunnablePort* pick_port(Scheduler& s, bool random);
std::uint64_t next_random(std::uint64_t& state);

/// Lays a part of the queue out for others to take, unless some of it still lies there. False when
/// there is nothing to spare.
bool offer(Scheduler& s);
/// Whether what runs next has never run.
bool begins_next(Scheduler& s);
/// The caller takes what `from` offers into its own queue. Returns how many processes.
unsigned steal(Scheduler& from, Scheduler& to);
/// Boosts the processes that wait here at a lower priority than has been requested
/// (process/priority_boost.hpp).
void boost_waiting(Scheduler& s);
/// Whether `from` has anything that waits. A hint.
bool has_waiting(const Scheduler& from);
/// The caller takes all that waits on `from`, which is stuck, into its own queue, but for what is
/// bound there: only ports when no process is to run any more.
void seize(Scheduler& from, Scheduler& to, bool only_ports);

}  // namespace vmrun

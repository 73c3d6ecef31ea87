// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

#include "vm/sched/scheduler.hpp"

/// The run queue of one scheduler, and the three ways in which its work gets to others. It offers a
/// part of it, and another one takes that (offer, steal); something is handed to a scheduler
/// (inbox); or all its work is taken away because it has not returned to its loop for a while
/// (seize). scheduler.cpp says when.
namespace vmrun {

/// The slow path of enqueue, when another thread is taking work away at this moment.
void enqueue_after_other(Scheduler& s, Process& p);
/// Called with the queue locked, and unlocks it.
inline void enqueue_and_unlock(Scheduler& s, Process& p) {
  s.queues[p.priority].push(p);
  s.runnable.store(s.runnable.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  s.queue_lock.unlock();
}
/// Called by the owner only, like everything here but steal and seize. Every message that wakes a
/// process takes this path: the rare case is called last, so that no registers need be saved for
/// it.
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

/// Count what the owner has, without its inboxes.
inline unsigned waiting_processes(const Scheduler& s) {
  return s.runnable.load(std::memory_order_relaxed) + s.offered.count;
}
inline unsigned waiting_ports(const Scheduler& s) { return s.runnable_ports.load(std::memory_order_relaxed); }

/// Move what others have handed over to the queue.
void take_inbox(Scheduler& s);
void take_port_inbox(Scheduler& s);

/// The slow path of pick, when the next process is not simply the first of normal priority. Called
/// with the queue locked.
Process* pick_among_all(Scheduler& s, bool random);

/// Returns the process to run next; nullptr when there is none. random: picks one of the first few.
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

/// Offers a part of the queue to others, unless some of an earlier offer has not been taken.
/// Returns false when there is nothing to spare.
bool offer(Scheduler& s);
/// Whether the process that runs next has never run.
bool begins_next(Scheduler& s);
/// Moves what `from` offers into the caller's own queue. Returns how many processes that were.
unsigned steal(Scheduler& from, Scheduler& to);
/// Boosts the processes that wait here at a lower priority than has been requested
/// (process/priority_boost.hpp).
void boost_waiting(Scheduler& s);
/// Whether anything waits on `from`. A hint.
bool has_waiting(const Scheduler& from);
/// Moves all that waits on `from`, which is stuck, into the caller's own queue, except what is
/// bound there. only_ports: no process is to run any more.
void seize(Scheduler& from, Scheduler& to, bool only_ports);

}  // namespace vmrun

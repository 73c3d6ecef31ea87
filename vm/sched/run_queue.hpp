#pragma once

#include <mutex>

#include "vm/sched/scheduler.hpp"

/// The run queue of one scheduler, and the three ways in which its work gets to others: it offers a
/// part of it (offer, and steal by the other one), it is handed something (inbox), or it has not
/// come round for a while and all it has is taken away (seize). See scheduler.cpp for when.
namespace vmrun {

/// Owner only, as everything here but steal and seize.
inline void enqueue(Scheduler& s, Process& p) {
  std::lock_guard guard(s.queue_lock);
  s.queues[p.priority].push(p);
  s.runnable.store(s.runnable.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
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

/// The process to run next; nullptr: there is none. random: one of the first few.
Process* pick(Scheduler& s, bool random);
RunnablePort* pick_port(Scheduler& s, bool random);
std::uint64_t next_random(std::uint64_t& state);

/// Lays a part of the queue out for others to take, unless some of it still lies there. False when
/// there is nothing to spare.
bool offer(Scheduler& s);
/// The caller takes what `from` offers into its own queue. Returns how many processes.
unsigned steal(Scheduler& from, Scheduler& to);
/// Whether `from` has anything that waits. A hint.
bool has_waiting(const Scheduler& from);
/// The caller takes all that waits on `from`, which is stuck, into its own queue: only ports when
/// no process is to run any more.
void seize(Scheduler& from, Scheduler& to, bool only_ports);

}  // namespace vmrun

#pragma once

#include <atomic>

#include "vm/port/driver_api.hpp"
#include "vm/port/task.hpp"
#include "vm/sched/scheduler.hpp"

/// What drivers hand to the pool (pool.hpp).
namespace vmrun {

/// Waits in a queue, then travels back to the port as the task that calls ready_async. Owned by the
/// queue it is in.
class AsyncJob final : public PortTask {
 public:
  /// By the thread that is in the port's callback.
  AsyncJob(Port& port, void (*invoke)(void*), void* data, void (*free)(void*));
  ~AsyncJob() override;

  Port& port() const { return port_; }
  Scheduler* home() const { return home_; }
  void invoke() { invoke_(data_); }
  /// Also while a closing port waits for its queue to empty: this may be what empties it.
  void run(Port& p) override;

 private:
  Port& port_;
  const ErlDrvPDL data_lock_;
  Scheduler* const home_;  // where it was submitted; nullptr: not on a scheduler
  void (*const invoke_)(void*);
  void* const data_;
  void (*const free_)(void*);
  bool delivered_ = false;
};

/// Jobs that are run one after the other, in the order they came: those of a worker. Which thread
/// that is may change whenever the queue has been empty.
class JobQueue {
 public:
  JobQueue() = default;
  JobQueue(const JobQueue&) = delete;

  /// Any thread. True: nobody runs the queue, and the caller sees to it that somebody does.
  [[nodiscard]] bool add(AsyncJob& job);
  /// Runs all there is, and what comes meanwhile. By the one thread that has been seen to.
  void run();

  JobQueue* next_in_queue = nullptr;  // of those that wait for a thread

 private:
  AsyncJob* next();

  PortTask* taken_ = nullptr;        // of who runs it: oldest first
  alignas(64) PortTaskInbox inbox_;  // any thread
  std::atomic<int> length_{0};       // jobs in both
  std::atomic<bool> is_run_{false};  // or somebody is seeing to it
};

}  // namespace vmrun

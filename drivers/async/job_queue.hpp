// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "vm/port/driver_api.hpp"
#include "vm/port/task.hpp"
#include "vm/sched/scheduler.hpp"

/// The jobs that drivers submit to the pool (pool.hpp).
namespace vmrun {

/// A job. It waits in a queue, then travels back to the port as the task that calls ready_async.
/// Owned by the queue that holds it.
class AsyncJob final : public PortTask {
 public:
  /// Called by the thread that runs the port's callback.
  AsyncJob(Port& port, void (*invoke)(void*), void* data, void (*free)(void*));
  ~AsyncJob() override;

  Port& port() const { return port_; }
  Scheduler* home() const { return home_; }
  void invoke() { invoke_(data_); }
  /// Also runs while a closing port waits for its queue to empty, because this may empty it.
  void run(Port& p) override;

 private:
  Port& port_;
  const ErlDrvPDL data_lock_;
  Scheduler* const home_;  // the scheduler that submitted it; nullptr: another thread
  void (*const invoke_)(void*);
  void* const data_;
  void (*const free_)(void*);
  bool delivered_ = false;
};

/// The jobs of one worker number, which run one after the other in the order of arrival. The thread
/// that runs them may change whenever the queue has been empty.
class JobQueue {
 public:
  JobQueue() = default;
  JobQueue(const JobQueue&) = delete;

  /// Called by any thread. Returns true when no thread runs the queue; the caller then makes sure
  /// that one does.
  [[nodiscard]] bool add(AsyncJob& job);
  /// Runs all jobs, also those that arrive meanwhile. Called by the one thread that has been chosen
  /// for it.
  void run();

  JobQueue* next_in_queue = nullptr;  // link of queues that wait for a thread

 private:
  AsyncJob* next();

  PortTask* taken_ = nullptr;        // used by the running thread only: oldest first
  alignas(64) PortTaskInbox inbox_;  // filled by any thread
  std::atomic<int> length_{0};       // jobs in both
  std::atomic<bool> is_run_{false};  // or a thread is being chosen for it
};

}  // namespace vmrun

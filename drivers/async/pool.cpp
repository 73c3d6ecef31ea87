// SPDX-License-Identifier: Apache-2.0
#include "drivers/async/pool.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "drivers/async/job_queue.hpp"
#include "vm/base/adaptive_spin.hpp"
#include "vm/base/memory_trim.hpp"
#include "vm/base/microstate.hpp"
#include "vm/base/parker.hpp"
#include "vm/base/spin_lock.hpp"
#include "vm/base/thread.hpp"
#include "vm/port/async.hpp"
#include "vm/port/driver.hpp"
#include "vm/port/driver_api.hpp"

namespace vmrun {
namespace {

class Pool;

/// Runs one queue after the other.
class Worker {
 public:
  Worker(Pool& pool, unsigned number) : pool_(pool), number_(number) {}

  /// Returns false when no thread can be started.
  bool start(JobQueue& first);
  /// Gives a queue to an idle worker that the caller has taken off the pool's lists.
  void give(JobQueue& queue) {
    given_.store(&queue, std::memory_order_seq_cst);
    parker_.wake();
  }
  void end() {
    ends_.store(true, std::memory_order_seq_cst);
    parker_.wake();
  }
  void join() {
    if (thread_.joinable()) thread_.join();
  }

  Worker* next = nullptr;  // link of the pool's lists

 private:
  void run(JobQueue* first);
  /// Returns the queue that it is given, or nullptr when the worker ends.
  JobQueue* wait();
  bool is_called() const {
    return given_.load(std::memory_order_seq_cst) || ends_.load(std::memory_order_seq_cst);
  }

  Pool& pool_;
  const unsigned number_;
  std::thread thread_;
  AdaptiveSpin spin_;
  MemoryTrimmer trimmer_;
  alignas(64) std::atomic<JobQueue*> given_{nullptr};
  std::atomic<bool> ends_{false};
  Parker parker_;
};

/// There are as many queues as workers, so that all can run at the same time. A queue that gets its
/// first job is given to the worker that became idle last: that one is probably still spinning,
/// while others sleep, and waking a thread takes longer than most jobs.
class Pool {
 public:
  explicit Pool(unsigned count) {
    for (unsigned n = count; n--;) {
      queues_.push_back(std::make_unique<JobQueue>());
      workers_.push_back(std::make_unique<Worker>(*this, n));
      push(not_started_, *workers_.back());
    }
  }

  std::size_t size() const { return queues_.size(); }
  JobQueue& queue(std::size_t n) { return *queues_[n]; }

  /// Makes sure that a thread runs the queue. Returns false when there are no threads and none can
  /// be started.
  [[nodiscard]] bool see_to(JobQueue& queue) {
    std::unique_lock lock(lock_);
    if (Worker* const idle = pop(idle_)) {
      lock.unlock();
      idle->give(queue);
      return true;
    }
    if (Worker* const other = pop(not_started_)) {
      ++started_;
      lock.unlock();
      if (other->start(queue)) return true;
      lock.lock();
      --started_;
      push(not_started_, *other);
    }
    if (started_ == 0) return false;
    waiting_.push(queue);
    return true;
  }
  /// Called by a worker that has finished a queue. Returns nullptr when no queue waits; the worker
  /// is idle then.
  JobQueue* next_for(Worker& worker) {
    std::lock_guard guard(lock_);
    if (waiting_.first) return &waiting_.pop();
    push(idle_, worker);
    return nullptr;
  }
  /// Called when no more jobs can be added.
  void stop() {
    for (const auto& w : workers_) w->end();
    for (const auto& w : workers_) w->join();
  }

 private:
  static void push(Worker*& list, Worker& w) {
    w.next = list;
    list = &w;
  }
  static Worker* pop(Worker*& list) { return std::exchange(list, list ? list->next : nullptr); }

  std::vector<std::unique_ptr<JobQueue>> queues_;
  std::vector<std::unique_ptr<Worker>> workers_;
  SpinLock lock_;  // guards what follows
  Worker *idle_ = nullptr, *not_started_ = nullptr;
  RunList<JobQueue> waiting_;  // used only if fewer threads could be started than wanted
  unsigned started_ = 0;
};

bool Worker::start(JobQueue& first) {
  try {
    thread_ = start_thread("async_" + std::to_string(number_ + 1), [this, &first] { run(&first); });
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

void Worker::run(JobQueue* queue) {
  account_for_this_thread(ThreadKind::kAsync, number_ + 1);
  while (queue) {
    queue->run();
    queue = pool_.next_for(*this);
    if (!queue) queue = wait();
  }
}

JobQueue* Worker::wait() {
  // A process that does one operation after the other comes back within microseconds.
  if (!spin_.until([this] { return given_.load(std::memory_order_relaxed) != nullptr; })) {
    const InMicrostate asleep(Microstate::kSleep);
    trimmer_.park(parker_, [this] { return is_called(); });
  }
  return given_.exchange(nullptr, std::memory_order_seq_cst);
}

// Never destroyed: a child that native code has forked does not have the threads, and may call
// exit.
Pool* pool = nullptr;
std::atomic<bool> inline_only{true};
std::atomic<long> job_count{0};
std::atomic<unsigned> round_robin{0};

JobQueue& queue_for(const unsigned* key) {
  const unsigned k = key ? *key : round_robin.fetch_add(1, std::memory_order_relaxed);
  return pool->queue(k % pool->size());
}

}  // namespace

void set_async_threads(unsigned count) {
  pool = new Pool(count);
  async_thread_count = count;
  inline_only.store(count == 0, std::memory_order_relaxed);
}

void stop_async_pool() {
  inline_only.store(true, std::memory_order_seq_cst);
  if (pool) pool->stop();
}

}  // namespace vmrun

using namespace vmrun;

extern "C" unsigned int driver_async_port_key(ErlDrvPort port) {
  return static_cast<unsigned>(port_of(port).id.id_number());
}

extern "C" long driver_async(ErlDrvPort port, unsigned int* key, void (*invoke)(void*), void* data,
                             void (*free)(void*)) {
  Port& p = port_of(port);
  auto job = std::make_unique<AsyncJob>(p, invoke, data, free);
  const long number = job_count.fetch_add(1, std::memory_order_relaxed) + 1;
  if (inline_only.load(std::memory_order_relaxed)) {
    job->invoke();
    job->run(p);
    return number;
  }
  JobQueue& queue = queue_for(key);
  if (queue.add(*job.release()) && !pool->see_to(queue)) queue.run();
  return number;
}

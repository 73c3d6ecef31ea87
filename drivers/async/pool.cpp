#include "drivers/async/pool.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "vm/base/adaptive_spin.hpp"
#include "vm/base/epoch.hpp"
#include "vm/base/inbox.hpp"
#include "vm/base/microstate.hpp"
#include "vm/base/parker.hpp"
#include "vm/base/thread.hpp"
#include "vm/base/tidying.hpp"
#include "vm/port/async.hpp"
#include "vm/port/callbacks.hpp"
#include "vm/port/driver.hpp"
#include "vm/port/driver_api.hpp"
#include "vm/port/task.hpp"
#include "vm/probes/fire.hpp"
#include "vm/sched/scheduler.hpp"

namespace vmrun {
namespace {

/// Waits in a worker's queue, then travels back to the port as the task that calls ready_async.
/// Owned by the queue it is in.
class AsyncJob final : public PortTask {
 public:
  AsyncJob(Port& port, void (*invoke)(void*), void* data, void (*free)(void*))
      : port_(port),
        data_lock_(reinterpret_cast<ErlDrvPDL>(port.data_lock)),
        home_(this_scheduler()),
        invoke_(invoke),
        data_(data),
        free_(free) {
    retain_port(port_);                               // and with it the driver, whose code is to be called
    if (data_lock_) driver_pdl_inc_refc(data_lock_);  // which the job may take, whatever becomes of the port
    if (home_) home_->work_away.fetch_add(1, std::memory_order_relaxed);
  }
  ~AsyncJob() override {
    if (home_) home_->work_away.fetch_sub(1, std::memory_order_relaxed);
    if (!delivered_ && free_) free_(data_);
    if (data_lock_) driver_pdl_dec_refc(data_lock_);
    release_reference(port_);
  }
  Port& port() const { return port_; }
  Scheduler* home() const { return home_; }
  void invoke() { invoke_(data_); }
  /// Also while a closing port waits for its queue to empty: this may be what empties it.
  void run(Port& p) override {
    if (p.state.load(std::memory_order_relaxed) == Port::State::kClosed || !p.driver->entry->ready_async)
      return;
    delivered_ = true;
    call_ready_async(p, data_);
  }

 private:
  Port& port_;
  const ErlDrvPDL data_lock_;
  Scheduler* const home_;  // where it was submitted; nullptr: not on a scheduler
  void (*const invoke_)(void*);
  void* const data_;
  void (*const free_)(void*);
  bool delivered_ = false;
};

class Worker {
 public:
  explicit Worker(unsigned number) : number_(number) {}

  /// Any thread. False: there is no thread to be had, the job is still the caller's.
  [[nodiscard]] bool add(AsyncJob* job) {
    if (!started_.load(std::memory_order_acquire) && !start()) return false;
    // Counted, and told, before the worker can see the job: the worker's own count of what is left
    // is never too small.
    const int length = length_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (probe::aio_pool_add_enabled()) [[unlikely]]
      probe::fire_aio_pool_add(job->port().id, length);
    inbox_.push(*job);
    parker_.wake();
    return true;
  }
  void stop() {
    std::lock_guard guard(start_lock_);
    stopping_.store(true, std::memory_order_seq_cst);
    parker_.wake();
    if (thread_.joinable()) thread_.join();
  }

 private:
  bool start() {
    std::lock_guard guard(start_lock_);
    if (started_.load(std::memory_order_relaxed)) return true;
    try {
      thread_ = start_thread("async_" + std::to_string(number_ + 1), [this] { run(); });
    } catch (const std::system_error&) {
      return false;
    }
    started_.store(true, std::memory_order_release);
    return true;
  }

  void run() {
    account_for_this_thread(ThreadKind::kAsync, number_ + 1);
    while (AsyncJob* job = next()) {
      const int left = length_.fetch_sub(1, std::memory_order_relaxed) - 1;
      if (probe::aio_pool_get_enabled()) [[unlikely]]
        probe::fire_aio_pool_get(job->port().id, left);
      {
        const InMicrostate runs(Microstate::kPort);
        job->invoke();
      }
      EpochGuard guard;  // once it is queued the job may be gone, and the port with it
      queue_task(job->port(), job, job->home());
    }
  }

  /// The oldest job; nullptr: the pool stops and nothing is left.
  AsyncJob* next() {
    while (!pending_) {
      if (inbox_.seems_empty()) {
        if (stopping_.load(std::memory_order_seq_cst) && !inbox_.has_mail()) return nullptr;
        wait();
      }
      pending_ = inbox_.take();
    }
    auto* job = static_cast<AsyncJob*>(pending_);
    pending_ = job->next;
    job->next = nullptr;
    return job;
  }

  bool has_mail() const { return inbox_.has_mail() || stopping_.load(std::memory_order_seq_cst); }

  void wait() {
    // A process that does one operation after the other comes back within microseconds.
    if (spin_.until([this] { return !inbox_.seems_empty(); })) return;
    const InMicrostate asleep(Microstate::kSleep);
    tidying_.park(parker_, [this] { return has_mail(); });
  }

  const unsigned number_;
  std::mutex start_lock_;
  std::atomic<bool> started_{false};
  std::thread thread_;
  PortTask* pending_ = nullptr;      // the worker's own: oldest first
  AdaptiveSpin spin_;                // the worker's own
  Tidying tidying_;                  // the same
  alignas(64) PortTaskInbox inbox_;  // any thread
  std::atomic<int> length_{0};       // jobs in both
  Parker parker_;
  std::atomic<bool> stopping_{false};
};

// Never destroyed: a child that native code has forked has the threads no more, and may call exit.
auto& workers = *new std::vector<std::unique_ptr<Worker>>;
std::atomic<bool> inline_only{true};
std::atomic<long> job_count{0};
std::atomic<unsigned> round_robin{0};

Worker& worker_for(const unsigned* key) {
  const unsigned k = key ? *key : round_robin.fetch_add(1, std::memory_order_relaxed);
  return *workers[k % workers.size()];
}

}  // namespace

void set_async_threads(unsigned count) {
  workers.clear();
  for (unsigned i = 0; i < count; ++i) workers.push_back(std::make_unique<Worker>(i));
  async_thread_count = count;
  inline_only.store(count == 0, std::memory_order_relaxed);
}

void stop_async_pool() {
  inline_only.store(true, std::memory_order_seq_cst);
  for (auto& worker : workers) worker->stop();
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
  if (!inline_only.load(std::memory_order_relaxed) && worker_for(key).add(job.get())) {
    (void)job.release();
  } else {
    job->invoke();
    job->run(p);
  }
  return number;
}

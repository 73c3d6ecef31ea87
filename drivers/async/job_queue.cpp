// SPDX-License-Identifier: Apache-2.0
#include "drivers/async/job_queue.hpp"

#include "vm/base/epoch.hpp"
#include "vm/base/microstate.hpp"
#include "vm/port/callbacks.hpp"
#include "vm/port/driver.hpp"
#include "vm/probes/fire.hpp"

namespace vmrun {

AsyncJob::AsyncJob(Port& port, void (*invoke)(void*), void* data, void (*free)(void*))
    : port_(port),
      data_lock_(reinterpret_cast<ErlDrvPDL>(port.data_lock)),
      home_(this_scheduler()),
      invoke_(invoke),
      data_(data),
      free_(free) {
  retain_port(port_);                               // also keeps the driver, whose code is called
  if (data_lock_) driver_pdl_inc_refc(data_lock_);  // the job may take it, even after the port is gone
  if (home_) home_->work_away.fetch_add(1, std::memory_order_relaxed);
}

AsyncJob::~AsyncJob() {
  if (home_) home_->work_away.fetch_sub(1, std::memory_order_relaxed);
  if (!delivered_ && free_) free_(data_);
  if (data_lock_) driver_pdl_dec_refc(data_lock_);
  release_reference(port_);
}

void AsyncJob::run(Port& p) {
  if (p.state.load(std::memory_order_relaxed) == Port::State::kClosed || !p.driver->entry->ready_async)
    return;
  delivered_ = true;
  call_ready_async(p, data_);
}

bool JobQueue::add(AsyncJob& job) {
  // The job is counted, and the probe fires, before the thread that runs the queue can see the job.
  // So that thread's count of the remaining jobs is never too small.
  const int length = length_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (probe::aio_pool_add_enabled()) [[unlikely]]
    probe::fire_aio_pool_add(job.port().id, length);
  inbox_.push(job);
  return !is_run_.exchange(true, std::memory_order_seq_cst);
}

AsyncJob* JobQueue::next() {
  if (!taken_) taken_ = inbox_.take();
  auto* const job = static_cast<AsyncJob*>(taken_);
  if (!job) return nullptr;
  taken_ = job->next;
  job->next = nullptr;
  return job;
}

void JobQueue::run() {
  do {
    while (AsyncJob* job = next()) {
      const int left = length_.fetch_sub(1, std::memory_order_relaxed) - 1;
      if (probe::aio_pool_get_enabled()) [[unlikely]]
        probe::fire_aio_pool_get(job->port().id, left);
      {
        const InMicrostate runs(Microstate::kPort);
        const InKnownActivity works(job->port().driver->activity);
        job->invoke();
      }
      EpochGuard guard;  // once it is queued the job may be gone, and the port with it
      queue_task(job->port(), job, job->home());
    }
    // add() pushes the job first and then reads is_run_; here the order is reversed, so that one
    // side always notices the other.
    is_run_.store(false, std::memory_order_seq_cst);
  } while (inbox_.has_mail() && !is_run_.exchange(true, std::memory_order_seq_cst));
}

}  // namespace vmrun

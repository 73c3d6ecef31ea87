// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The async pool (`+A N`): threads that run the jobs that drivers submit by driver_async
/// (erl_driver(3)), so that blocking calls do not stop a scheduler. A job goes to worker `key mod
/// N`; jobs of one worker run one after the other, in the order of arrival. The job's ready_async
/// runs on the scheduler that submitted it, in a task of its port. If the port is gone by then, the
/// job's free function is called instead, by the thread that notices it. A job that was submitted
/// always runs, even when its port has gone: a process may have been told that the work is under
/// way. With +A 0 a job runs inside driver_async.
namespace vmrun {

/// Called before the first job. Threads start with their first job.
void set_async_threads(unsigned count);

/// Runs what is queued and ends the threads; jobs submitted from then on run inside driver_async.
/// Must not be called by a scheduler thread.
void stop_async_pool();

}  // namespace vmrun

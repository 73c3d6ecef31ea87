#pragma once

/// The async pool (`+A N`): threads that run what drivers hand them through driver_async
/// (erl_driver(3)), so that blocking calls stop no scheduler. A job goes to worker `key mod N`;
/// jobs of one worker run one after the other, in the order they came. The job's ready_async runs
/// on the scheduler that submitted it, in a task of its port; when the port is gone by then, the
/// job's free function is called instead, wherever that is noticed. A job that was submitted always
/// runs, also when its port has gone: what a process was told is being done is done. With +A 0 a
/// job runs inside driver_async.
namespace vmrun {

/// Before the first job. Threads start with their first job.
void set_async_threads(unsigned count);

/// Runs what is queued and ends the threads; jobs submitted from then on run inside driver_async.
/// Not for a scheduler thread.
void stop_async_pool();

}  // namespace vmrun

#pragma once

#include <atomic>

#include "vm/sched/scheduler.hpp"

/// What a scheduler does that has nothing to do, and what wakes it. It searches: looks for a moment
/// whether others offer work; then it sleeps, on a futex, or in the poller's role (poll.hpp). While
/// a scheduler works and another one sleeps its alarm is set (alarm.hpp). When the alarm rings, as
/// the scheduler has not come round for half a millisecond, a sleeper takes all that waits there,
/// and fires the timers that are due there. So nothing waits behind a call that does not yield.
/// While all are busy, they look at each other every few milliseconds.
namespace vmrun {

/// Sleeps until there may be something to do. Then with the epoch entered. True: descriptors were
/// ready, and no timer was due before.
bool wait_for_work(Scheduler& s);

/// Others have waited here for a while: offers a part if somebody is idle, and wakes one if need
/// be.
void share(Scheduler& s);
/// It is called when others have waited for as many reductions.
inline constexpr std::int32_t kWaitedBeforeSharing = 1000;

/// Something was put into s's inbox.
void wake_owner(Scheduler& s);

/// Something has been queued on s, by itself: sets its alarm if that waits behind what runs. To be
/// called when the alarm is not set.
void set_alarm_if_needed(Scheduler& s);
/// One of several comes round, and its alarm is set: it puts it off now and then, or clears it.
void put_alarm_off(Scheduler& s);
/// s comes round, and its alarm is not set, so maybe nobody sleeps. Now and then it relieves the
/// others itself. With an epoch entered.
void watch_between_slices(Scheduler& s);

/// A descriptor has been registered: somebody is to wait for it though this thread does not.
void mind_descriptor();

/// From now on only ports run.
extern std::atomic<bool> processes_held;

void start_idling();
void stop_idling();

}  // namespace vmrun

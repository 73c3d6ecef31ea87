#pragma once

#include <atomic>

#include "vm/sched/scheduler.hpp"

/// What a scheduler does that has nothing to do, and who wakes it. It searches: looks for a moment
/// whether others offer work; then it sleeps, on a futex, or in the poller's role (poll.hpp). One
/// of those that sleep while others work has the watcher's role: every few hundred microseconds it
/// looks whether a busy scheduler has not come round since, and if so takes all that waits there,
/// and fires the timers that are due there. So nothing waits behind a call that does not yield.
/// While all are busy, they take turns at such a look, every few milliseconds.
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

/// Nobody watches though somebody could: wakes a sleeper, which then does. Not often true.
extern std::atomic<bool> somebody_watches;
void call_watcher();

/// A busy scheduler, with an epoch entered, while nobody watches: now and then it looks after the
/// others itself.
void watch_between_slices(Scheduler& s);

/// From now on only ports run.
extern std::atomic<bool> processes_held;

void start_idling();

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "vm/sched/scheduler.hpp"

/// What a scheduler does when it has nothing to do, and what wakes it. First it searches: it checks
/// for a moment whether others offer work. Then it sleeps, on a futex or in the poller's role
/// (poll.hpp).
///
/// While a scheduler works and another one sleeps, its alarm is set (alarm.hpp). The alarm rings
/// when the scheduler has not returned to its loop for half a millisecond. Then a sleeper takes all
/// that waits there, and fires the timers that are due there. So nothing waits behind a call that
/// does not yield. While all schedulers are busy, they check each other every few milliseconds.
///
/// Invariants, each with the test that holds it:
///
///  1. No wake-up is lost. A scheduler that offers work stores `surplus` and then looks for
///     sleepers; one that falls asleep announces it and then looks at every `surplus`. Both are
///     sequentially consistent. (unit base: "Parker", "Inbox"; unit process: "A storm")
///  2. At most one thread claims a sleeper: the one whose exchange clears `asleep`. It has counted
///     the sleeper as searching before it wakes it. (unit process: "A storm")
///  3. The alarm of a scheduler is set while it works, another one sleeps, and something waits
///     there that another could take. (unit base: "Alarm"; unit process: "What waits behind")
///  4. Work behind a call that does not yield waits half a millisecond while a scheduler sleeps,
///     and ten milliseconds while all are busy. (fairness: built-in functions, collections)
///  5. Nothing polls while nothing runs long: a timer costs one voluntary switch. (fairness:
///     wake-ups)
///
/// docs/internals/schedulers.md tells the whole.
namespace vmrun {

/// Sleeps until there may be something to do, and enters the epoch. Returns true when descriptors
/// were ready before a timer was due.
bool wait_for_work(Scheduler& s);

/// Called when other processes have waited here for a while. Offers a part of the queue if a
/// scheduler is idle, and wakes one if need be.
void share(Scheduler& s);
/// share is called when others have waited for so many reductions.
inline constexpr std::int32_t kWaitedBeforeSharing = 1000;

/// Called when something was put into s's inbox.
void wake_owner(Scheduler& s);

/// Called when s has queued something itself and its alarm is not set. Sets the alarm if that waits
/// behind what runs.
void set_alarm_if_needed(Scheduler& s);
/// Called between two slices when there are several schedulers and the alarm of s is set. Now and
/// then puts the alarm off or clears it.
void put_alarm_off(Scheduler& s);
/// Called between two slices when the alarm of s is not set, so that perhaps no scheduler sleeps.
/// Now and then s itself takes over what waits on others. With an epoch entered.
void watch_between_slices(Scheduler& s);

/// Called when a descriptor has been registered. Makes sure that a thread waits for it, though the
/// calling one does not.
void mind_descriptor();

/// When set, only ports run.
extern std::atomic<bool> processes_held;

void start_idling();
void stop_idling();

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#include "vm/sched/idle.hpp"

#include <unistd.h>

#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

#include "vm/base/clock.hpp"
#include "vm/base/microstate.hpp"
#include "vm/base/thread.hpp"
#include "vm/sched/balance.hpp"
#include "vm/sched/online.hpp"
#include "vm/sched/poll.hpp"
#include "vm/sched/run_queue.hpp"
#include "vm/sched/timers.hpp"

namespace vmrun {

std::atomic<bool> processes_held{false};

namespace {

constexpr unsigned kSearchLooks = 200;    // of other schedulers, some 30 ns each
constexpr unsigned kLeastRounds = 3;      // over all of them
constexpr unsigned kGroup = 8;            // schedulers that are searched first: likely to share a cache
constexpr Word kPutOffEveryNs = 250'000;  // less than an alarm takes to ring
constexpr Word kBusyLookEveryNs = 5'000'000;
constexpr unsigned kGoodCatch = 8;  // a thief of so many processes wakes another scheduler

// These lines are written only when a scheduler falls asleep or wakes.
alignas(64) std::atomic<unsigned> searching{0};  // awake without work, or woken and not awake yet
alignas(64) std::atomic<unsigned> sleepers{0};   // schedulers that can be claimed

unsigned busy() { return busy_schedulers.load(std::memory_order_relaxed); }
bool held() { return processes_held.load(std::memory_order_relaxed); }

// ---- Waking -------------------------------------------------------------------------------------

/// Ends the scheduler's sleep, on its futex or in epoll. Returns what it was doing.
Parker::State wake(Scheduler& s) {
  const Parker::State was = s.parker.wake();
  if (was == Parker::kPolling) poll_interrupt();
  return was;
}

/// How many schedulers may be searching, or about to, before no other one is woken for work. More
/// of them would wake each other in vain.
unsigned most_woken() { return std::clamp(busy() / 4, 1u, 4u); }

bool claim(Scheduler& s) {
  if (!s.asleep.load(std::memory_order_relaxed) || !s.asleep.exchange(false, std::memory_order_seq_cst))
    return false;
  sleepers.fetch_sub(1, std::memory_order_seq_cst);
  searching.fetch_add(1, std::memory_order_seq_cst);
  return true;
}

/// Claims a sleeper, which no other thread then wakes for work. Starts at `near`; the poller comes
/// last.
Scheduler* claim_sleeper(unsigned near) {
  const unsigned n = scheduler_count();
  for (bool polling : {false, true})
    for (unsigned i = 0; i < n; ++i) {
      Scheduler& s = scheduler_at((near + i) % n);
      if (s.polls.load(std::memory_order_relaxed) == polling && claim(s)) return &s;
    }
  return nullptr;
}

/// Returns nullptr when enough schedulers are awake, or all.
Scheduler* claim_for_work(unsigned near) {
  if (sleepers.load(std::memory_order_seq_cst) == 0) return nullptr;
  if (searching.load(std::memory_order_seq_cst) >= most_woken()) return nullptr;
  return claim_sleeper(near);
}

void hand_over_ports(Scheduler& s, Scheduler& to) {
  const unsigned ports = waiting_ports(s);
  for (unsigned n = (ports + (waiting_processes(s) ? 1 : 0)) / 2; n; --n)
    if (RunnablePort* p = pick_port(s, false)) to.port_inbox.push(*p);
}

// ---- Searching ----------------------------------------------------------------------------------

bool has_mail(const Scheduler& s) {
  return s.inbox.has_mail() || s.port_inbox.has_mail() || s.asked.load(std::memory_order_seq_cst);
}
bool has_work(const Scheduler& s) {
  return waiting_ports(s) || (waiting_processes(s) && !held()) || has_mail(s);
}

unsigned idle_ones() {
  return searching.load(std::memory_order_seq_cst) + sleepers.load(std::memory_order_seq_cst);
}
/// Called by an idle scheduler.
bool others_are_busy() { return idle_ones() < busy(); }

/// Tries once to steal from every scheduler: the neighbours first, then from a random start.
/// Returns whether something was taken.
bool steal_from_anyone(Scheduler& s) {
  const unsigned n = scheduler_count(), self = s.number - 1;
  const unsigned group = self / kGroup * kGroup;
  const auto from = [&](unsigned i) {
    const unsigned taken = i < n && i != self ? steal(scheduler_at(i), s) : 0;
    if (taken >= kGoodCatch) share(s);
    return taken != 0;
  };
  for (unsigned i = 0; i < kGroup; ++i)
    if (from(group + (self + i) % kGroup)) return true;
  if (n <= kGroup) return false;
  const auto start = static_cast<unsigned>(next_random(s.search_state) % n);
  for (unsigned i = 0; i < n; ++i)
    if (from((start + i) % n)) return true;
  return false;
}

bool anyone_offers(const Scheduler& s) {
  for (unsigned i = 0; i < scheduler_count(); ++i)
    if (i != s.number - 1 && scheduler_at(i).surplus.load(std::memory_order_seq_cst)) return true;
  return false;
}

/// At most half of the schedulers search at the same time.
bool begin_search() {
  if (held()) return false;
  if (searching.fetch_add(1, std::memory_order_seq_cst) < (busy() + 1) / 2) return true;
  searching.fetch_sub(1, std::memory_order_seq_cst);
  return false;
}

bool search(Scheduler& s) {
  const unsigned rounds = std::max(kLeastRounds, kSearchLooks / scheduler_count());
  for (unsigned i = 0; i < rounds && others_are_busy(); ++i) {
    if (has_mail(s) || steal_from_anyone(s)) return true;
    for (unsigned looks = 0; looks < scheduler_count(); ++looks) cpu_relax();
  }
  return has_mail(s);
}

// ---- Stuck schedulers ---------------------------------------------------------------------------

bool timers_due(const Scheduler& s, Word now_tick) {
  return !s.timers.empty() && s.timers.next_tick_hint() <= now_tick;
}
bool something_waits(const Scheduler& s) { return has_waiting(s) || timers_due(s, monotonic_tick()); }

/// Called with an epoch entered.
void take_over(Scheduler& other, Scheduler& s) {
  fire_due_timers(other);
  seize(other, s, held());
}

bool has_come_round(const Scheduler& s) {
  return s.turns.load(std::memory_order_relaxed) != s.turns_at_alarm.load(std::memory_order_relaxed);
}

/// Takes what waits on schedulers that have not returned to their loops since their alarms were
/// set. Called when an alarm has rung.
void relieve_others(Scheduler& s) {
  epoch_enter(*s.epoch);
  for (unsigned i = 0; i < scheduler_count(); ++i) {
    Scheduler& other = scheduler_at(i);
    if (&other != &s && !other.idle.load(std::memory_order_seq_cst) && !has_come_round(other) &&
        something_waits(other))
      take_over(other, s);
  }
  epoch_leave(*s.epoch);
}

/// While no scheduler sleeps, busy ones check the others. `turns` holds each one's count at the
/// last check.
struct BusyLook {
  std::atomic<bool> taken{false};
  std::vector<unsigned> turns;
} busy_look;
alignas(64) std::atomic<Word> next_busy_look_ns{0};

void set_alarm(Scheduler& s) {
  if (s.alarm.is_set()) return;
  s.turns_at_alarm.store(s.turns.load(std::memory_order_relaxed), std::memory_order_relaxed);
  s.alarm.set();
}

/// Whether there may soon be something that another scheduler would have to do if s were stuck.
bool expects_work(const Scheduler& s) { return !s.timers.empty() || poll_wanted(); }

/// Whether there is such a thing, or may soon be. Called by the owner.
bool needs_alarm(const Scheduler& s) {
  return sleepers.load(std::memory_order_seq_cst) &&
         (waiting_processes(s) + waiting_ports(s) > 1 || expects_work(s));
}

/// Called when s is about to sleep and already counts as a sleeper: schedulers that work are
/// watched from now on. A scheduler that begins to work after this check sees the sleeper
/// (mind_what_may_wait).
void set_alarms_of_busy_ones(const Scheduler& s) {
  for (unsigned i = 0; i < scheduler_count(); ++i) {
    Scheduler& other = scheduler_at(i);
    if (&other != &s && !other.idle.load(std::memory_order_seq_cst)) set_alarm(other);
  }
}

/// Called between two slices. now is the clock.
void put_off_or_clear(Scheduler& s, Word now) {
  if (now < s.put_alarm_off_ns) return;
  s.put_alarm_off_ns = now + kPutOffEveryNs;
  if (!needs_alarm(s)) {
    s.put_alarm_off_ns = 0;
    s.alarm.clear();
    if (has_mail(s)) set_alarm(s);  // the thread that put it there may have found the alarm set
    return;
  }
  s.turns_at_alarm.store(s.turns.load(std::memory_order_relaxed), std::memory_order_relaxed);
  s.alarm.put_off();
}

/// Called when s has gone to work and no longer counts as idle.
void mind_what_may_wait(Scheduler& s, Word now) {
  if (s.put_alarm_off_ns == kNoAlarm) return;
  if (s.alarm.is_set()) return put_off_or_clear(s, now);
  if (!needs_alarm(s)) return;
  s.put_alarm_off_ns = now + kPutOffEveryNs;
  set_alarm(s);
}

/// Called when s is about to sleep. If it usually sleeps for less time than an alarm takes to ring,
/// the alarm stays set and is put off later. Otherwise it would be set and cleared each time.
void clear_alarm_if_slow(Scheduler& s) {
  if (!s.slept_long || s.put_alarm_off_ns == kNoAlarm) return;
  s.put_alarm_off_ns = 0;
  s.alarm.clear();
}

// ---- Sleeping -----------------------------------------------------------------------------------

// A sleeper should take the poller's role: something waits for a descriptor, and a scheduler that
// was already asleep did not know.
std::atomic<bool> poller_called{false};

/// Sleeps until there is something to do, a timer is due, or another thread has claimed the
/// sleeper. Returns true when descriptors are ready; then s still has the poller's role. now is the
/// clock, some microseconds old.
[[nodiscard]] bool sleep(Scheduler& s, Word now) {
  const auto called = [&] { return has_mail(s) || !s.asleep.load(std::memory_order_seq_cst); };
  const Word tick = s.timers.next_tick();
  bool polls = false, ready = false;
  const auto called_at_all = [&] {
    return called() || s.trimmer.is_asked() || (!polls && poller_called.load(std::memory_order_seq_cst));
  };
  for (s.trimmer.begin(now); !ready && !called(); s.trimmer.go_on(now = monotonic_ns())) {
    SWord left = s.trimmer.time_left(now);
    if (tick != ~Word{0}) {
      const auto until_timer = static_cast<SWord>(tick * 1'000'000 - now);
      if (until_timer <= 0) break;
      if (left < 0 || left > until_timer) left = until_timer;
    }
    if (poller_called.load(std::memory_order_relaxed)) poller_called.store(false, std::memory_order_seq_cst);
    if (!polls && poll_wanted() && poll_claim()) {
      s.polls.store(polls = true, std::memory_order_relaxed);
      {
        const InMicrostate looks(Microstate::kCheckIo);
        s.poll_spin.until([&] { return called() || (ready = poll_wait(0)); });
      }
      if (ready || called()) break;
    }
    {
      const InMicrostate asleep(Microstate::kSleep);
      if (polls) s.parker.park_polling(called_at_all, [&] { ready = poll_wait(left); });
      else s.parker.park(called_at_all, left);
    }
  }
  if (polls) {
    s.polls.store(false, std::memory_order_relaxed);
    if (!ready) poll_leave();
  }
  return ready;
}

/// Returns true when descriptors are ready. now is the clock when this began.
bool search_and_sleep(Scheduler& s, Word now) {
  const bool alone = busy() == 1;
  bool searches = idle_ones() + 1 < busy() && begin_search();
  for (;;) {
    const bool found = searches && search(s);
    s.asleep.store(!found, std::memory_order_seq_cst);
    if (!found) sleepers.fetch_add(1, std::memory_order_seq_cst);
    if (searches) searching.fetch_sub(1, std::memory_order_seq_cst);
    if (found) return false;
    // A thread that offers something after this check finds this scheduler asleep.
    const bool look_again = !alone && !held() && anyone_offers(s);
    if (!look_again) set_alarms_of_busy_ones(s);
    const bool ready = !look_again && sleep(s, now);
    searches = !s.asleep.exchange(false, std::memory_order_seq_cst);  // claimed, and counted
    if (!searches) sleepers.fetch_sub(1, std::memory_order_seq_cst);
    if (s.called_to_relieve.load(std::memory_order_relaxed) &&
        s.called_to_relieve.exchange(false, std::memory_order_acquire))
      relieve_others(s);
    if (!look_again && (ready || !searches || has_work(s))) {
      if (searches) searching.fetch_sub(1, std::memory_order_seq_cst);
      return ready;
    }
    if (!searches) searches = begin_search();
    now = monotonic_ns();
  }
}

}  // namespace

bool wait_for_work(Scheduler& s) {
  epoch_leave(*s.epoch);
  s.idle.store(true, std::memory_order_seq_cst);
  const Word begun = monotonic_ns();
  s.idle_time.start(begun);
  clear_alarm_if_slow(s);
  const bool comes_soon =
      s.work_away.load(std::memory_order_relaxed) && s.away_spin.until([&] { return has_mail(s); });
  const bool ready = !comes_soon && search_and_sleep(s, begun);
  const Word now = ready ? poll_last_look() : monotonic_ns();
  s.idle_time.stop(now);
  s.slept_long = now - begun > kAlarmNs;
  s.idle.store(false, std::memory_order_seq_cst);
  epoch_enter(*s.epoch);
  if (ready) poll_dispatch();
  mind_what_may_wait(s, now);
  return ready;
}

namespace {

/// A program that starts a process and lets others run may rely on the new process having begun,
/// and so may one that starts a more urgent process. If other processes were offered at this
/// moment, they might run first, because waking a scheduler for them may take this thread's core.
/// Sharing one slice later is soon enough.
bool puts_off(Scheduler& s) { return s.put_off_sharing = !s.put_off_sharing && begins_next(s); }

[[gnu::noinline]] void share_with_idle(Scheduler& s) {
  if (puts_off(s)) {
    s.others_waited = kWaitedBeforeSharing;
    return;
  }
  const bool offers = offer(s);
  if (!offers && waiting_ports(s) + waiting_processes(s) < 2) return;
  if (Scheduler* idle = claim_for_work(s.number - 1)) {
    if (waiting_ports(s)) hand_over_ports(s, *idle);
    wake(*idle);
  }
}

}  // namespace

void share(Scheduler& s) {
  s.others_waited = 0;
  if (sleepers.load(std::memory_order_relaxed) + searching.load(std::memory_order_relaxed))
    share_with_idle(s);
}

void wake_owner(Scheduler& s) {
  if (wake(s) == Parker::kPolling || s.idle.load(std::memory_order_seq_cst)) return;
  if (sleepers.load(std::memory_order_seq_cst)) set_alarm(s);
}

void set_alarm_if_needed(Scheduler& s) {
  if ((s.runs || waiting_processes(s) > 1) && sleepers.load(std::memory_order_seq_cst)) set_alarm(s);
}

void put_alarm_off(Scheduler& s) { put_off_or_clear(s, monotonic_ns()); }

void watch_between_slices(Scheduler& s) {
  const Word now = monotonic_ns();
  balance_now_and_then(s, now);
  if (now < next_busy_look_ns.load(std::memory_order_relaxed) ||
      busy_look.taken.exchange(true, std::memory_order_acquire))
    return;
  next_busy_look_ns.store(now + kBusyLookEveryNs, std::memory_order_relaxed);
  for (unsigned i = 0; i < scheduler_count(); ++i) {
    Scheduler& other = scheduler_at(i);
    if (&other == &s) continue;
    const unsigned turns = other.turns.load(std::memory_order_relaxed);
    if (std::exchange(busy_look.turns[i], turns) == turns && !other.idle.load(std::memory_order_seq_cst) &&
        something_waits(other))
      take_over(other, s);
  }
  busy_look.taken.store(false, std::memory_order_release);
}

namespace {

void call_poller() {
  poller_called.store(true, std::memory_order_seq_cst);
  for (unsigned i = 0; i < scheduler_count(); ++i) {
    Scheduler& s = scheduler_at(i);
    if (s.asleep.load(std::memory_order_seq_cst) && wake(s) != Parker::kAwake) return;
  }
}

}  // namespace

void mind_descriptor() {
  if (Scheduler* s = this_scheduler()) {
    if (!s->alarm.is_set() && sleepers.load(std::memory_order_seq_cst)) set_alarm(*s);
  } else {
    call_poller();  // the schedulers may all sleep already, on something else
  }
}

// ---- The thread in which alarms ring ------------------------------------------------------------

namespace {

auto& alarm_thread = *new std::thread;  // never destroyed, like the schedulers' threads
std::atomic<int> alarm_thread_id{0};

/// Makes a sleeper take what waits on schedulers that are stuck.
void call_relief() {
  Scheduler* const s = claim_sleeper(0);
  if (!s) return;  // the next scheduler that falls asleep sets the alarm again
  s->called_to_relieve.store(true, std::memory_order_release);
  wake(*s);
}

void alarm_rings(Scheduler& s) {
  s.alarm.has_rung();
  if (s.idle.load(std::memory_order_seq_cst)) return;
  if (has_come_round(s)) {
    if (has_waiting(s) || (sleepers.load(std::memory_order_seq_cst) && expects_work(s))) set_alarm(s);
    return;
  }
  if (something_waits(s)) call_relief();
  if (poll_wanted() && !poll_is_claimed()) call_poller();
  // It may be stuck for long, so its next timer must be fired too.
  if (const Word tick = s.timers.empty() ? ~Word{0} : s.timers.next_tick_hint(); tick != ~Word{0})
    s.alarm.ring_late(std::max(tick * 1'000'000, monotonic_ns() + kAlarmNs));
}

void run_alarm_thread() {
  account_for_this_thread(ThreadKind::kPoll, 0);
  begin_to_wait_for_alarms();
  alarm_thread_id.store(gettid(), std::memory_order_release);
  alarm_thread_id.notify_all();
  for (;;) {
    unsigned number;
    {
      const InMicrostate asleep(Microstate::kSleep);
      number = wait_for_alarm();
    }
    if (number == 0) return;
    alarm_rings(scheduler_at(number - 1));
  }
}

}  // namespace

void start_idling() {
  searching.store(0);
  sleepers.store(0);
  busy_look.turns.assign(scheduler_count(), 0);
  for (unsigned i = 0; i < scheduler_count(); ++i)
    scheduler_at(i).trimmer.join([&s = scheduler_at(i)] { wake(s); });
  if (scheduler_count() == 1) {  // there is no other scheduler that could do anything
    scheduler_at(0).put_alarm_off_ns = kNoAlarm;
    scheduler_at(0).alarm.set();
    return;
  }
  alarm_thread_id.store(0, std::memory_order_relaxed);
  alarm_thread = start_needed_thread("poller", run_alarm_thread);
  alarm_thread_id.wait(0, std::memory_order_acquire);
  for (unsigned i = 0; i < scheduler_count(); ++i)
    scheduler_at(i).alarm.timer().create(alarm_thread_id.load(std::memory_order_relaxed), i + 1);
}

void stop_idling() {
  if (!alarm_thread.joinable()) return;
  interrupt_alarms(alarm_thread_id.load(std::memory_order_relaxed));
  alarm_thread.join();
  for (unsigned i = 0; i < scheduler_count(); ++i) scheduler_at(i).alarm.timer().remove();
}

}  // namespace vmrun

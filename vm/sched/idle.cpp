#include "vm/sched/idle.hpp"

#include <algorithm>
#include <vector>

#include "vm/base/clock.hpp"
#include "vm/base/microstate.hpp"
#include "vm/sched/online.hpp"
#include "vm/sched/poll.hpp"
#include "vm/sched/run_queue.hpp"
#include "vm/sched/timers.hpp"

namespace vmrun {

// A write to one of these lines is part of falling asleep and waking up only.
alignas(64) std::atomic<bool> somebody_watches{false};
std::atomic<bool> processes_held{false};

namespace {

constexpr unsigned kSearchLooks = 200;  // at other schedulers, some 30 ns each
constexpr unsigned kLeastRounds = 3;    // over all of them
constexpr unsigned kGroup = 8;          // schedulers that are searched first: likely to share a cache
constexpr SWord kWatchEveryNs = 300'000;
constexpr Word kBusyLookEveryNs = 5'000'000;
constexpr unsigned kWatchesInVain = 16;  // times the watcher looks on when all others are idle
constexpr unsigned kGoodCatch = 8;       // who steals as many lets another one know

alignas(64) std::atomic<unsigned> searching{0};  // awake without work, or woken and not awake yet
alignas(64) std::atomic<unsigned> sleepers{0};   // schedulers that can be claimed

unsigned at_work() { return schedulers_at_work.load(std::memory_order_relaxed); }
bool held() { return processes_held.load(std::memory_order_relaxed); }

// ---- Waking -------------------------------------------------------------------------------------

void wake(Scheduler& s) {
  if (s.parker.wake() == Parker::kElsewhere) poll_interrupt();
}

/// How many may be searching, or on the way to it, before nobody wakes another one for work. More
/// wake each other in vain.
unsigned most_woken() { return std::clamp(at_work() / 4, 1u, 4u); }

bool claim(Scheduler& s) {
  if (!s.asleep.load(std::memory_order_relaxed) || !s.asleep.exchange(false, std::memory_order_seq_cst))
    return false;
  sleepers.fetch_sub(1, std::memory_order_seq_cst);
  searching.fetch_add(1, std::memory_order_seq_cst);
  return true;
}

/// A sleeper, which nobody else wakes for work then; who polls comes last. From `near` on.
Scheduler* claim_sleeper(unsigned near) {
  const unsigned n = scheduler_count();
  for (bool polling : {false, true})
    for (unsigned i = 0; i < n; ++i) {
      Scheduler& s = scheduler_at((near + i) % n);
      if (s.polls.load(std::memory_order_relaxed) == polling && claim(s)) return &s;
    }
  return nullptr;
}

/// nullptr: enough are awake, or all.
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
/// Asked by an idle one.
bool others_work() { return idle_ones() < at_work(); }

/// One look at everybody: the neighbours first, then from anywhere. True when something was taken.
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

/// At most half of the schedulers search at a time.
bool begin_search() {
  if (held()) return false;
  if (searching.fetch_add(1, std::memory_order_seq_cst) < (at_work() + 1) / 2) return true;
  searching.fetch_sub(1, std::memory_order_seq_cst);
  return false;
}

bool search(Scheduler& s) {
  const unsigned rounds = std::max(kLeastRounds, kSearchLooks / scheduler_count());
  for (unsigned i = 0; i < rounds && others_work(); ++i) {
    if (has_mail(s) || steal_from_anyone(s)) return true;
    for (unsigned looks = 0; looks < scheduler_count(); ++looks) cpu_relax();
  }
  return has_mail(s);
}

// ---- The watcher --------------------------------------------------------------------------------

/// Of who has the role.
struct Watch {
  std::vector<unsigned> turns;  // of each scheduler, when it was last looked at
  unsigned in_vain = 0;         // looks since somebody was busy
  // As turns, for the looks of busy ones: those of who is idle come much more often.
  std::vector<unsigned> busy_turns;
} watch;
alignas(64) std::atomic<Word> next_busy_look_ns{0};

bool take_watch(Scheduler& s) {
  if (s.watches) return true;
  if (somebody_watches.load(std::memory_order_relaxed) ||
      somebody_watches.exchange(true, std::memory_order_seq_cst))
    return false;
  s.called_to_watch.store(false, std::memory_order_relaxed);
  watch.in_vain = 0;
  return s.watches = true;
}

bool wants_to_watch(Scheduler& s) {
  return s.called_to_watch.load(std::memory_order_relaxed) || others_work();
}

void leave_watch(Scheduler& s) {
  if (!s.watches) return;
  s.watches = false;
  somebody_watches.store(false, std::memory_order_seq_cst);
}

bool timers_due(const Scheduler& s, Word now_tick) {
  return !s.timers.empty() && s.timers.next_tick_hint() <= now_tick;
}

/// Goes through the others. turns: of each, at the last look. Calls relieve(other) for those that
/// have not come round since, and where something waits. False when nobody has been busy since.
template <class Relieve>
bool look_at_others(const Scheduler& s, std::vector<unsigned>& last_turns, Relieve&& relieve) {
  bool busy = false;
  for (unsigned i = 0; i < scheduler_count(); ++i) {
    Scheduler& other = scheduler_at(i);
    if (&other == &s) continue;
    const bool idle = other.idle.load(std::memory_order_seq_cst);
    const unsigned turns = other.turns.load(std::memory_order_relaxed);
    busy |= !idle || turns != last_turns[i];
    if (turns != last_turns[i]) last_turns[i] = turns;
    else if (!idle && (has_waiting(other) || timers_due(other, monotonic_tick()))) relieve(other);
  }
  return busy;
}

/// With an epoch entered.
void take_over(Scheduler& other, Scheduler& s) {
  fire_due_timers(other);
  seize(other, s, held());
}

/// True when there is something to do here now.
bool look_after_others(Scheduler& s) {
  const bool busy = look_at_others(s, watch.turns, [&](Scheduler& other) {
    epoch_enter(*s.epoch);
    take_over(other, s);
    epoch_leave(*s.epoch);
  });
  watch.in_vain = busy ? 0 : watch.in_vain + 1;
  return has_work(s);
}

// ---- Polling ------------------------------------------------------------------------------------

alignas(64) std::atomic<Word> last_polled_ns{0};  // when somebody idle had the role

/// The poller's role stays with the one that has had it, as long as that comes back soon: who is
/// called to watch meanwhile does not take it. Otherwise each descriptor that is ready would wake a
/// second scheduler.
bool may_poll(const Scheduler& s, Word now) {
  return !s.watches ||
         static_cast<SWord>(now - last_polled_ns.load(std::memory_order_relaxed)) >= kWatchEveryNs;
}

// ---- Sleeping -----------------------------------------------------------------------------------

/// Until there is something to do, a timer is due, or somebody has claimed the sleeper; or with
/// true when descriptors are ready: then the poller's role is still ours. now: the clock, of some
/// microseconds ago.
[[nodiscard]] bool sleep(Scheduler& s, Word now) {
  const auto called = [&] { return has_mail(s) || !s.asleep.load(std::memory_order_seq_cst); };
  const Word tick = s.timers.next_tick();
  bool polls = false, ready = false;
  for (s.tidying.begin(now); !ready && !called(); s.tidying.go_on(now = monotonic_ns())) {
    SWord left = s.tidying.time_left(now);
    if (tick != ~Word{0}) {
      const auto until_timer = static_cast<SWord>(tick * 1'000'000 - now);
      if (until_timer <= 0) break;
      if (left < 0 || left > until_timer) left = until_timer;
    }
    if (s.watches ? watch.in_vain < kWatchesInVain : wants_to_watch(s) && take_watch(s)) {
      if (left < 0 || left > kWatchEveryNs) left = kWatchEveryNs;
    } else {
      leave_watch(s);
      // Who has begun to work before it could see that must be watched still.
      if (others_work() && take_watch(s)) continue;
    }
    if (!polls && poll_wanted() && may_poll(s, now) && poll_claim()) {
      s.polls.store(polls = true, std::memory_order_relaxed);
      {
        const InMicrostate looks(Microstate::kCheckIo);
        s.poll_spin.until([&] { return called() || (ready = poll_wait(0)); });
      }
      if (ready || called()) break;
    }
    {
      const InMicrostate asleep(Microstate::kSleep);
      if (polls) s.parker.park_elsewhere(called, [&] { ready = poll_wait(left); });
      else s.parker.park(called, left);
    }
    if (s.watches && !ready && look_after_others(s)) break;
  }
  if (polls) {
    s.polls.store(false, std::memory_order_relaxed);
    if (!ready || poll_found() == 1) last_polled_ns.store(poll_last_look(), std::memory_order_relaxed);
    if (!ready) poll_leave();
  }
  return ready;
}

/// True when descriptors are ready. now: when that began.
bool search_and_sleep(Scheduler& s, Word now) {
  const bool alone = at_work() == 1;
  bool searches = idle_ones() + 1 < at_work() && begin_search();
  for (;;) {
    const bool found = searches && search(s);
    s.asleep.store(!found, std::memory_order_seq_cst);
    if (!found) sleepers.fetch_add(1, std::memory_order_seq_cst);
    if (searches) searching.fetch_sub(1, std::memory_order_seq_cst);
    if (found) return false;
    // Who offers something after this look finds one that sleeps.
    const bool look_again = !alone && !held() && anyone_offers(s);
    const bool ready = !look_again && sleep(s, now);
    searches = !s.asleep.exchange(false, std::memory_order_seq_cst);  // claimed, and counted
    if (!searches) sleepers.fetch_sub(1, std::memory_order_seq_cst);
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
  const Word now = monotonic_ns();
  s.idle_time.start(now);
  const bool comes_soon =
      s.work_away.load(std::memory_order_relaxed) && s.away_spin.until([&] { return has_mail(s); });
  const bool ready = !comes_soon && search_and_sleep(s, now);
  s.idle_time.stop(ready ? poll_last_look() : monotonic_ns());
  s.idle.store(false, std::memory_order_seq_cst);
  epoch_enter(*s.epoch);
  if (ready) poll_dispatch();
  leave_watch(s);
  if (!somebody_watches.load(std::memory_order_seq_cst) &&
      (waiting_processes(s) > 1 || !s.timers.empty() || idle_ones() + 1 < at_work()))
    call_watcher();
  return ready;
}

namespace {

/// Who starts a process and lets others run then may take it that it has begun; so may who starts
/// one that is more urgent. Were they offered at this moment, they might go on first: waking
/// somebody for them may take this thread its core. One slice later is soon enough.
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
  if (s.parker.wake() == Parker::kElsewhere) poll_interrupt();
  else if (!somebody_watches.load(std::memory_order_seq_cst) && !s.idle.load(std::memory_order_seq_cst))
    call_watcher();
}

void call_watcher() {
  Scheduler* s = sleepers.load(std::memory_order_relaxed) ? claim_for_work(0) : nullptr;
  if (!s) return;
  s->called_to_watch.store(true, std::memory_order_relaxed);  // seen by who finds itself claimed: wake
  wake(*s);
}

void watch_between_slices(Scheduler& s) {
  const Word now = monotonic_ns();
  if (now < next_busy_look_ns.load(std::memory_order_relaxed) || !take_watch(s)) return;
  next_busy_look_ns.store(now + kBusyLookEveryNs, std::memory_order_relaxed);
  look_at_others(s, watch.busy_turns, [&](Scheduler& other) { take_over(other, s); });
  leave_watch(s);
  call_watcher();  // who fell asleep at this moment found the role taken
}

void start_idling() {
  searching.store(0);
  sleepers.store(0);
  somebody_watches.store(scheduler_count() == 1);  // nobody else could
  watch.turns.assign(scheduler_count(), 0);
  watch.busy_turns.assign(scheduler_count(), 0);
}

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#include "vm/sched/balance.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

#include "vm/process/priority_boost.hpp"
#include "vm/sched/bound.hpp"
#include "vm/sched/idle.hpp"
#include "vm/sched/scheduler.hpp"

namespace vmrun {

namespace {

constexpr Word kBalanceEveryNs = 10'000'000;
constexpr Word kStaleAfterNs = 3 * kBalanceEveryNs;  // it sleeps, is offline, or does not come round
// A surplus of less than an eighth is left: what schedulers say is of different moments.
constexpr unsigned kSlack = 8;
// A scheduler that gives goes through its queue, which may be long, and all of it bound. So it
// rests in proportion: that takes about a twentieth of its time at most.
constexpr Word kRestNsForEach = 2'000;
constinit thread_local Word rests_until_ns = 0;

std::atomic<Word> balances{0};

unsigned waiting_of_kind(const Scheduler& s, unsigned kind) {
  const unsigned offered = s.offered.count && WorkKinds::of(s.offered_priority) == kind ? s.offered.count : 0;
  return offered + s.queues[kind + 1].count + (kind ? 0 : s.queues[0].count);
}

/// Between two slices, what has run waits again, if it can go on.
void note_waiting(Scheduler& s, Word now_ns) {
  std::lock_guard guard(s.queue_lock);  // another scheduler may have taken all that waits
  bool could_run = true;
  for (unsigned kind = WorkKinds::kCount; kind-- > 0;) {
    if (could_run) ++s.work.could_run[kind];
    const unsigned n = waiting_of_kind(s, kind);
    s.work.waiting[kind].store(n, std::memory_order_relaxed);
    could_run = could_run && n == 0;
  }
  s.work.noted_ns.store(now_ns, std::memory_order_relaxed);
}

/// Says how much room there has been since it was last said, evened out because the system may have
/// run another thread here for a while; but at once where there has been none.
void note_room(Scheduler& s, Word now_ns) {
  const Word elapsed = std::max<Word>(now_ns - s.work.counted_since_ns, 1);
  for (unsigned kind = 0; kind < WorkKinds::kCount; ++kind) {
    const Word room = s.work.could_run[kind] * Word{1'000'000'000} / elapsed;
    const Word before = s.work.room[kind].load(std::memory_order_relaxed);
    const Word evened = room && before ? (3 * before + room) / 4 : room;
    s.work.room[kind].store(static_cast<unsigned>(evened), std::memory_order_relaxed);
    s.work.could_run[kind] = 0;
  }
  s.work.counted_since_ns = now_ns;
}

Load load_of(const Scheduler& s, unsigned kind, Word now_ns) {
  if (now_ns > s.work.noted_ns.load(std::memory_order_relaxed) + kStaleAfterNs) return {};
  return {s.work.waiting[kind].load(std::memory_order_relaxed),
          s.work.room[kind].load(std::memory_order_relaxed)};
}

/// The last of a queue: they have just run.
RunList<Process> take_last(Scheduler& s, unsigned priority, unsigned n) {
  RunList<Process>& queue = s.queues[priority];
  n = std::min(n, queue.count);
  if (!n) return {};
  const unsigned before = queue.count, skip = before - n;
  RunList<Process> taken = queue.cut(skip, n);
  if (processes_are_bound.load(std::memory_order_relaxed)) [[unlikely]]
    keep_bound(s, taken, priority, skip);
  const unsigned gone = before - queue.count;
  s.runnable.store(s.runnable.load(std::memory_order_relaxed) - gone, std::memory_order_relaxed);
  return taken;
}

void hand_over(const RunList<Process>& list, Scheduler& to) {
  for (Process* p = list.first; p;) {
    Process* next = p->next_in_queue;
    boost_as_requested(*p);
    to.inbox.push(*p);
    p = next;
  }
}

/// Gives as large a part of low as of normal priority. Returns how many processes it has gone
/// through at most.
unsigned give(Scheduler& s, unsigned kind, unsigned n, Scheduler& to) {
  RunList<Process> some, low;
  unsigned seen;
  {
    std::lock_guard guard(s.queue_lock);
    seen = s.queues[kind + 1].count + (kind ? 0 : s.queues[0].count);
    if (kind == 0) {
      const unsigned all = s.queues[0].count + s.queues[1].count;
      if (!all) return 0;
      const auto of_low = static_cast<unsigned>(Word{n} * s.queues[0].count / all);
      low = take_last(s, 0, of_low);
      n -= of_low;
    }
    some = take_last(s, kind + 1, n);
  }
  hand_over(low, to);
  hand_over(some, to);
  wake_owner(to);
  return seen;
}

void balance(Scheduler& s, Word now_ns) {
  const unsigned count = scheduler_count();
  std::vector<Load> loads(count);
  std::vector<unsigned> gifts(count);
  Word seen = 0;
  for (unsigned kind = WorkKinds::kCount; kind-- > 0;) {
    if (!s.work.waiting[kind].load(std::memory_order_relaxed)) continue;
    for (unsigned i = 0; i < count; ++i) loads[i] = load_of(scheduler_at(i), kind, now_ns);
    plan_gifts(loads, s.number - 1, gifts);
    for (unsigned i = 0; i < count; ++i)
      if (gifts[i]) seen += give(s, kind, gifts[i], scheduler_at(i));
  }
  rests_until_ns = now_ns + seen * kRestNsForEach;
  balances.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

void plan_gifts(std::span<const Load> loads, std::size_t giver, std::span<unsigned> gifts) {
  std::ranges::fill(gifts, 0u);
  Word waiting = 0, room = 0;
  for (const Load& load : loads) {
    waiting += load.waiting;
    room += load.room;
  }
  if (!room) return;
  const auto fair = [&](const Load& load) { return waiting * load.room / room; };
  // Half a process cannot be given away.
  const auto surplus = [&](const Load& load) {
    const Word most = (waiting * load.room + room - 1) / room;
    return load.waiting > most ? load.waiting - most : 0;
  };
  const Word own = surplus(loads[giver]);
  if (own <= fair(loads[giver]) / kSlack) return;
  Word of_all = 0;
  for (const Load& load : loads) of_all += surplus(load);
  Word left = own;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const Word missing = std::max(fair(loads[i]), Word{loads[i].waiting}) - loads[i].waiting;
    const Word gift = std::min(left, (missing * own + of_all - 1) / of_all);
    gifts[i] = static_cast<unsigned>(gift);
    left -= gift;
  }
}

void balance_now_and_then(Scheduler& s, Word now_ns) {
  note_waiting(s, now_ns);
  if (now_ns < std::max(s.work.counted_since_ns + kBalanceEveryNs, rests_until_ns)) return;
  note_room(s, now_ns);
  balance(s, now_ns);
}

Word balances_done() { return balances.load(std::memory_order_relaxed); }

}  // namespace vmrun

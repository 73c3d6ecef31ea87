// SPDX-License-Identifier: Apache-2.0
#include "vm/lifecycle/answer.hpp"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "vm/base/activity.hpp"
#include "vm/base/epoch.hpp"
#include "vm/heap/copy.hpp"
#include "vm/lifecycle/gc.hpp"
#include "vm/lifecycle/info.hpp"
#include "vm/lifecycle/inspect.hpp"
#include "vm/message/deferred_decoding.hpp"
#include "vm/message/request.hpp"
#include "vm/process/as_new.hpp"
#include "vm/process/code_view.hpp"
#include "vm/process/dirty_job.hpp"
#include "vm/process/dirty_state.hpp"
#include "vm/process/process_state.hpp"
#include "vm/trace/calls_under_way.hpp"
#include "vm/trace/saved_calls.hpp"
#include "vm/trace/trace.hpp"

namespace vmrun {
namespace {

constexpr Word kLongStackWords = 10'000;  // it is looked through on a dirty scheduler
constexpr std::int32_t kAnswerCost = 10;  // in reductions, besides the cost that depends on sizes

std::int32_t collect_for(Process& p, Term how) {
  const int cost = how == atoms::minor ? collect(p, 0, p.saved_regs, p.live_saved)
                                       : collect_major(p, 0, p.saved_regs, p.live_saved);
  if (cost >= 0) return cost;
  p.exit_pending = true;
  p.exit_reason = atoms::killed;
  return 0;
}

std::int32_t words_cost(Word words) { return static_cast<std::int32_t>(std::min<Word>(words / 16, 1 << 20)); }

/// Whether the requested collection takes too long for a scheduler.
bool collects_long(const Process& p, Term how) {
  if (dirty_thread_kind() != DirtyKind::kNone) return false;
  return how == atoms::minor ? long_collection(p) : long_full_sweep(p);
}

constexpr std::int32_t kTooLong = kTooLongToReclaim;

/// Returns the cost in reductions, or kTooLong when nothing has been done.
std::int32_t answer_one(Process& p, Term request) {
  const Term argument = request_argument(request);
  Arena arena;
  const auto answer = [&](Term value) {
    answer_request(request, value);
    return kAnswerCost;
  };
  switch (request_kind(request)) {
    case RequestKind::kNothing:
    case RequestKind::kIsAlive: return answer(atoms::true_);
    case RequestKind::kProcessInfo: {
      const Term info = process_info(p, argument, arena, false);
      return answer(info) + words_cost(arena.fragment_words);
    }
    case RequestKind::kInspect: {
      const bool is_here = dirty_thread_kind() == DirtyKind::kNone;
      if (is_here && static_cast<Word>(p.heap.end - p.heap.stop) > kLongStackWords) return kTooLong;
      const EpochGuard guard;
      const Term found = inspect(p, argument, arena);
      return answer(found) + words_cost(arena.fragment_words);
    }
    case RequestKind::kGarbageCollect: {
      if (collects_long(p, argument)) return kTooLong;
      const std::int32_t cost = collect_for(p, argument);
      if (dirty_thread_kind() == DirtyKind::kNone) return answer(atoms::true_) + cost;
      const EpochGuard guard;
      return answer(atoms::true_) + cost;
    }
    case RequestKind::kSuspend:
      ++p.suspend_count;
      tell_suspended(request, p.id);
      return answer(atoms::true_);
    case RequestKind::kTrace: return answer(trace_as_asked(p, argument) ? atoms::true_ : atoms::false_);
    case RequestKind::kTraceInfo: return answer(trace_info(p, argument, arena));
    case RequestKind::kTellName:
      trace_procs(p, argument.element(0), argument.element(1));
      return answer(atoms::true_);
    case RequestKind::kRunsOldCode:
      return answer(process_upcalls.runs_old_code(p, argument) ? atoms::true_ : atoms::false_);
    case RequestKind::kControlConnection: extra_of(p).in_distribution = true; return answer(atoms::true_);
    case RequestKind::kGroupLeader: set_group_leader(p, argument); return answer(atoms::true_);
    case RequestKind::kSaveCalls:
      return answer(Term::small(save_calls(p, static_cast<unsigned>(argument.small_value()))));
    case RequestKind::kReclaim: return process_upcalls.take_part_in_reclaim(&p);
    case RequestKind::kForgetTracing:
      forget_ended_sessions(p);
      forget_unawaited_calls(p);
      return answer(atoms::true_);
    case RequestKind::kResume:
      if (p.suspend_count) --p.suspend_count;
      return answer(atoms::true_);
  }
  return 0;
}

/// Whether the answer must wait until native code of the process has returned, since that works on
/// its heap, or is about to. True for requests that collect or look through the heap, and for those
/// that need the heap unchanged.
bool waits_for_native(const Process& p, Term request) {
  switch (request_kind(request)) {
    case RequestKind::kGarbageCollect:
    case RequestKind::kReclaim:
    case RequestKind::kForgetTracing:
    case RequestKind::kInspect:
    case RequestKind::kSuspend:
    case RequestKind::kResume: return true;
    case RequestKind::kProcessInfo:
      return looks_through_heap(request_argument(request)) && !is_queued_for_dirty(p);
    default: return false;
  }
}

bool waits_for_collections(const Process& p, Term request) {
  const RequestKind kind = request_kind(request);
  return (kind == RequestKind::kGarbageCollect || kind == RequestKind::kReclaim) &&
         collections_are_forbidden(p);
}

/// Tasks among the requests take their turns by priority; all other requests are answered in the
/// order of their arrival.
void order_tasks(std::vector<Fragment*>& requests) {
  constexpr unsigned kLow = 0, kNormal = 1, kHighest = 3, kNormalTurns = 8;
  std::vector<Fragment*> queues[kHighest + 1];
  for (Fragment* f : requests)
    if (is_task(request_kind(f->message))) queues[request_priority(f->message)].push_back(f);
  std::size_t taken[kHighest + 1] = {};
  const auto is_left = [&](unsigned priority) { return taken[priority] < queues[priority].size(); };
  unsigned turns = 0;
  for (Fragment*& f : requests) {
    if (!is_task(request_kind(f->message))) continue;
    unsigned priority = kHighest;
    while (priority > kNormal && !is_left(priority)) --priority;
    if (priority == kNormal && (!is_left(kNormal) || (is_left(kLow) && turns == kNormalTurns)))
      priority = kLow;
    turns = priority == kNormal ? turns + 1 : priority == kLow ? 0 : turns;
    f = queues[priority][taken[priority]++];
  }
}

}  // namespace

void set_group_leader(Process& p, Term leader) {
  if (leader.is_immed()) return std::atomic_ref(p.group_leader).store(leader, std::memory_order_relaxed);
  Fragment* f = new_fragment(copy_size_words(leader));
  p.group_leader = f->message = copy_into(*f, leader);
  take_over(p, f);
}

namespace {

/// Frees p.extra if it holds nothing any more, since only a request had made it necessary.
void give_back_extra(Process& p) {
  if (!is_as_new(*p.extra)) return;
  // A sample may be taken here.
  const Extra* const extra = std::exchange(p.extra, nullptr);
  delete extra;
}

}  // namespace

std::int32_t answer_deferred(Process& p) {
  const InActivity answers("[scheduler]");  // the process itself may only wait
  p.deferred_requests = false;
  bool has_forgotten = false;
  std::vector<Fragment*> requests;
  requests.swap(p.extra->deferred);
  if (requests.size() > 1) order_tasks(requests);
  std::int32_t cost = 0;
  for (Fragment* f : requests) {
    has_forgotten |= request_kind(f->message) == RequestKind::kForgetTracing;
    if (p.extra->other_dirty_work == OtherDirtyWork::kAnswer) [[unlikely]] {
      p.extra->deferred.push_back(f);
      continue;
    }
    if (!p.exit_pending && waits_for_collections(p, f->message)) [[unlikely]] {
      f->next = std::exchange(p.extra->until_collected, f);
      continue;
    }
    if (is_with_dirty(p) && waits_for_native(p, f->message)) {
      p.extra->deferred.push_back(f);
      p.deferred_requests = true;
      continue;
    }
    if (p.exit_pending) {
      answer_request_dead(f->message);
    } else if (const std::int32_t one = answer_one(p, f->message); one != kTooLong) {
      cost += one;
    } else {
      p.extra->deferred.push_back(f);
      p.extra->other_dirty_work = OtherDirtyWork::kAnswer;
      p.deferred_requests = true;
      continue;
    }
    Fragment::destroy(f);
  }
  settle_undecodable(p);
  if (has_forgotten) [[unlikely]]
    give_back_extra(p);
  return cost;
}

void answer_first(Process& p) {
  Extra& extra = *p.extra;
  Fragment* const f = extra.deferred.front();
  extra.deferred.erase(extra.deferred.begin());
  extra.other_dirty_work = OtherDirtyWork::kNone;
  (void)answer_one(p, f->message);
  Fragment::destroy(f);
}

}  // namespace vmrun

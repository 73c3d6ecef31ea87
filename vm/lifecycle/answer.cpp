#include "vm/lifecycle/answer.hpp"

#include <utility>
#include <vector>

#include "vm/heap/copy.hpp"
#include "vm/lifecycle/gc.hpp"
#include "vm/lifecycle/info.hpp"
#include "vm/message/held_back.hpp"
#include "vm/message/request.hpp"
#include "vm/process/away.hpp"
#include "vm/process/code_view.hpp"
#include "vm/process/process_state.hpp"
#include "vm/trace/saved_calls.hpp"
#include "vm/trace/trace.hpp"

namespace vmrun {
namespace {

void collect_for(Process& p, Term how) {
  const int cost = how == atoms::minor ? collect(p, 0, p.saved_regs, p.live_saved)
                                       : collect_major(p, 0, p.saved_regs, p.live_saved);
  if (cost >= 0) return;
  p.exit_pending = true;
  p.exit_reason = atoms::killed;
}

void set_group_leader(Process& p, Term leader) {
  p.group_leader = leader;
  if (leader.is_immed()) return;
  Fragment* f = new_fragment(copy_size_words(leader));
  p.group_leader = f->message = copy_into(*f, leader);
  take_over(p, f);
}

void answer_one(Process& p, Term request) {
  const Term argument = request_argument(request);
  Arena arena;
  switch (request_kind(request)) {
    case RequestKind::kNothing:
    case RequestKind::kIsAlive: return answer_request(request, atoms::true_);
    case RequestKind::kProcessInfo: return answer_request(request, process_info(p, argument, arena, false));
    case RequestKind::kGarbageCollect: collect_for(p, argument); return answer_request(request, atoms::true_);
    case RequestKind::kSuspend:
      ++p.suspend_count;
      tell_suspended(request, p.id);
      return answer_request(request, atoms::true_);
    case RequestKind::kTrace:
      return answer_request(request, trace_as_asked(p, argument) ? atoms::true_ : atoms::false_);
    case RequestKind::kTraceInfo: return answer_request(request, trace_info(p, argument, arena));
    case RequestKind::kTellName:
      trace_procs(p, argument.element(0), argument.element(1));
      return answer_request(request, atoms::true_);
    case RequestKind::kRunsOldCode:
      return answer_request(request, code_view.runs_old_code(p, argument) ? atoms::true_ : atoms::false_);
    case RequestKind::kControlConnection:
      extra_of(p).in_distribution = true;
      return answer_request(request, atoms::true_);
    case RequestKind::kGroupLeader:
      set_group_leader(p, argument);
      return answer_request(request, atoms::true_);
    case RequestKind::kSaveCalls:
      return answer_request(request,
                            Term::small(save_calls(p, static_cast<unsigned>(argument.small_value()))));
    case RequestKind::kReclaim: return code_view.take_part_in_reclaim(&p);
    case RequestKind::kResume:
      if (p.suspend_count) --p.suspend_count;
      return answer_request(request, atoms::true_);
  }
}

/// Whether the answer must wait until native code of the process is done, which works on its heap:
/// for what collects or looks through the heap, and for what needs it at rest.
bool waits_for_native(Term request) {
  switch (request_kind(request)) {
    case RequestKind::kGarbageCollect:
    case RequestKind::kReclaim:
    case RequestKind::kSuspend:
    case RequestKind::kResume: return true;
    case RequestKind::kProcessInfo: return looks_through_heap(request_argument(request));
    default: return false;
  }
}

bool waits_for_collections(const Process& p, Term request) {
  const RequestKind kind = request_kind(request);
  return (kind == RequestKind::kGarbageCollect || kind == RequestKind::kReclaim) &&
         collections_are_forbidden(p);
}

/// The tasks among them take their turns by priority; all else is answered as it has come.
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

void answer_deferred(Process& p) {
  p.deferred_requests = false;
  std::vector<Fragment*> requests;
  requests.swap(p.extra->deferred);
  if (requests.size() > 1) order_tasks(requests);
  for (Fragment* f : requests) {
    if (!p.exit_pending && waits_for_collections(p, f->message)) [[unlikely]] {
      f->next = std::exchange(p.extra->until_collected, f);
      continue;
    }
    if (is_away(p) && waits_for_native(f->message)) {
      p.extra->deferred.push_back(f);
      p.deferred_requests = true;
      continue;
    }
    if (p.exit_pending) answer_request_dead(f->message);
    else answer_one(p, f->message);
    Fragment::destroy(f);
  }
  settle_undecodable(p);
}

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#include "vm/code/after_schedulers.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "vm/base/epoch.hpp"
#include "vm/base/spin_lock.hpp"
#include "vm/code/change_permission.hpp"
#include "vm/code/code_server.hpp"
#include "vm/message/request.hpp"
#include "vm/process/dirty_job.hpp"
#include "vm/process/process_table.hpp"
#include "vm/sched/run_queue.hpp"

namespace vmrun {
namespace {

/// Runs on a dirty scheduler, which holds no epoch.
Term wait_for_schedulers(Process&, const Term*) {
  constexpr unsigned kQuickLooks = 20;
  constexpr auto kLookEvery = std::chrono::microseconds(50);
  const Word stamp = epoch_stamp();
  for (unsigned looks = 0; epoch_passed(stamp) < stamp; ++looks) {
    if (looks < kQuickLooks) std::this_thread::yield();
    else std::this_thread::sleep_for(kLookEvery);
  }
  return atoms::ok;
}

/// When all have passed the second time, each has run a slice that it began after the first.
Term wait_for_slices(Process& p, const Term* args) {
  (void)wait_for_schedulers(p, args);
  return wait_for_schedulers(p, args);
}

/// Whether all threads have passed the epoch, or do so within some microseconds. A built-in
/// function that has just begun holds nothing that others free, except the code it returns to.
bool have_passed(Word stamp) {
  constexpr unsigned kLooks = 100;
  EpochSlot& own = epoch_slot();
  for (unsigned looks = 0; looks < kLooks; ++looks) {
    epoch_quiescent_in_slice(own);
    if (epoch_passed(stamp) >= stamp) return true;
    cpu_relax();
  }
  return false;
}

bool wait_on_dirty(Process& p) { return run_on_dirty(p, wait_for_schedulers, nullptr, 0).is_value(); }

/// What a process that will be called again waits for.
enum class Until {
  kBegun,  // other processes have begun
  kTurn,   // the other processes of its scheduler have had their turn
  kPassed  // all threads have passed; a dirty scheduler waits for it
};
struct Waiting {
  Term process;
  Until until = Until::kBegun;
  Word position = 0;   // in the process table: the processes in front of it have begun
  bool asked = false;  // whether the process at that place has been asked
  unsigned waits = 0;  // rounds of all schedulers since then
  Word stamp = 0;      // taken when all had begun
};
SpinLock waiting_lock;
std::vector<Waiting>& waiting = *new std::vector<Waiting>;

void note(const Waiting& w) {
  std::lock_guard guard(waiting_lock);
  std::erase_if(waiting, [](const Waiting& other) { return !process_table.find(other.process); });
  waiting.push_back(w);
}
Waiting take_note(Term process) {
  std::lock_guard guard(waiting_lock);
  const auto of_it = std::ranges::find(waiting, process, &Waiting::process);
  if (of_it == waiting.end()) return {process};
  const Waiting w = *of_it;
  waiting.erase(of_it);
  return w;
}

bool somebody_waits(const Scheduler& s) {
  return waiting_processes(s) || waiting_ports(s) || s.inbox.has_mail();
}

bool is_to_begin(const Process& p, std::span<const Term> modules) {
  return !p.has_begun.load(std::memory_order_acquire) && !p.mailbox.is_parked() &&
         std::ranges::find(modules, p.initial_module) != modules.end();
}

/// Asks the processes that have not begun whether they are alive, one after the other. A process
/// that answers begins in the same turn. Exceptions are a process that is suspended, one that is
/// boosted to answer (process/priority_boost.hpp), and one on another scheduler than the one it is
/// bound to. For such a process this waits some more rounds of all schedulers, but not for ever.
/// has_waited: one such round has just ended. Returns false if p is to be called again.
bool have_begun(Process& p, Waiting& w, bool has_waited, std::span<const Term> modules) {
  constexpr unsigned kLooksAtOnce = 10'000, kMostWaits = 1000;
  if (has_asked(p) && take_answer(p) == kNonValue) return false;
  w.waits += has_waited ? 1 : 0;
  Word next = w.position;
  for (unsigned looks = 0; const Process* q = process_table.next(next); ++looks) {
    if (looks == kLooksAtOnce) return yield_and_retry(p).is_value();
    if (is_to_begin(*q, modules) && w.waits < kMostWaits) {
      if (w.asked) return wait_on_dirty(p);
      w.asked = true;
      if (ask(p, q->id, RequestKind::kIsAlive, Term::nil(), atoms::false_) == kNonValue) return false;
    }
    w = {.process = w.process, .position = next};
  }
  return true;
}

}  // namespace

bool after_schedulers(Process& p, std::span<const Term> changed) {
  constexpr unsigned kNormal = 1;
  const bool is_on_dirty = dirty_thread_kind() != DirtyKind::kNone;  // no process waits there
  if (!is_on_dirty && !may_change_code(p)) return false;
  const bool has_waited = came_back(p) && wait_on_dirty(p);
  Waiting w = take_note(p.id);
  if (std::ranges::none_of(changed, [](Term name) { return current_module(name); })) return true;
  if (!this_scheduler()) return wait_for_schedulers(p, nullptr).is_value();
  if (is_on_dirty) return true;  // StaysHere
  if (w.until == Until::kBegun) {
    if (!have_begun(p, w, has_waited, changed)) return note(w), false;
    w.stamp = epoch_stamp();
    if (!somebody_waits(*this_scheduler()) && have_passed(w.stamp)) return true;
    // When this process has its turn again, all that wait have run. Only a process of a higher
    // priority may come before them each time.
    if (p.priority <= kNormal) {
      w.until = Until::kTurn;
      return note(w), yield_and_retry(p).is_value();
    }
  } else if (w.until == Until::kTurn ? have_passed(w.stamp) : has_waited) {
    return true;
  }
  w.until = Until::kPassed;
  return note(w), wait_on_dirty(p);
}

Term after_slices(Process& p) {
  const bool is_at_once = !came_back(p) && !somebody_waits(*this_scheduler()) && have_passed(epoch_stamp()) &&
                          have_passed(epoch_stamp());
  return is_at_once ? atoms::ok : run_on_dirty(p, wait_for_slices, nullptr, 0);
}

}  // namespace vmrun

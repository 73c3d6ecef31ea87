#include "vm/code/after_schedulers.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "vm/base/epoch.hpp"
#include "vm/base/spin_lock.hpp"
#include "vm/code/change_permission.hpp"
#include "vm/process/dirty_job.hpp"
#include "vm/process/table.hpp"
#include "vm/sched/run_queue.hpp"

namespace vmrun {
namespace {

/// On a dirty scheduler, which holds no epoch.
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

/// Whether all have passed, or do within some microseconds. A built-in function that has just begun
/// holds nothing that others free but the code it returns to.
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

/// Processes that have let the others of their scheduler run first, and what they wait for.
struct Waiting {
  Term process;
  Word stamp;
};
SpinLock waiting_lock;
std::vector<Waiting>& waiting = *new std::vector<Waiting>;

void note(Term process, Word stamp) {
  std::lock_guard guard(waiting_lock);
  std::erase_if(waiting, [](const Waiting& w) { return !process_table.find(w.process); });
  waiting.push_back({process, stamp});
}
/// 0: it has none.
Word take_note(Term process) {
  std::lock_guard guard(waiting_lock);
  const auto of_it = std::ranges::find(waiting, process, &Waiting::process);
  if (of_it == waiting.end()) return 0;
  const Word stamp = of_it->stamp;
  waiting.erase(of_it);
  return stamp;
}

bool somebody_waits(const Scheduler& s) {
  return waiting_processes(s) || waiting_ports(s) || s.inbox.has_mail();
}

}  // namespace

bool after_schedulers(Process& p, bool replaces) {
  constexpr unsigned kNormal = 1;
  if (!may_change_code(p)) return false;
  if (!replaces) return true;
  if (!this_scheduler()) return wait_for_schedulers(p, nullptr).is_value();
  if (dirty_thread_kind() != DirtyKind::kNone) return true;  // StaysHere
  if (!came_back(p)) {
    const Word noted = take_note(p.id), stamp = noted ? noted : epoch_stamp();
    if ((noted || !somebody_waits(*this_scheduler())) && have_passed(stamp)) return true;
    // In its turn all who wait have run, unless it comes before them each time.
    if (!noted && p.priority <= kNormal) {
      note(p.id, stamp);
      return yield_and_retry(p).is_value();
    }
  }
  return run_elsewhere(p, wait_for_schedulers, nullptr, 0).is_value();
}

}  // namespace vmrun

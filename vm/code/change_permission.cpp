// SPDX-License-Identifier: Apache-2.0
#include "vm/code/change_permission.hpp"

#include <atomic>
#include <mutex>
#include <vector>

#include "vm/message/deliver.hpp"
#include "vm/process/bif.hpp"
#include "vm/process/process_table.hpp"

namespace vmrun {
namespace {

std::mutex mutex;
// Written under the mutex. A thread that reads `false` without the mutex counts as one that began
// before the permission was taken.
std::atomic<bool> is_taken{false};
Term holder = kNonValue;
std::vector<Term>& waiting = *new std::vector<Term>;

/// A process that had the permission and has ended does not have it any more.
bool somebody_else_has_it(const Process& p) {
  return is_taken.load(std::memory_order_relaxed) && holder != p.id && process_table.find(holder);
}

bool wait_for_it(Process& p) {
  waiting.push_back(p.id);
  return suspend_and_retry(p).is_value();
}

}  // namespace

bool may_change_code(Process& p) {
  if (!is_taken.load(std::memory_order_relaxed)) [[likely]]
    return true;
  std::lock_guard lock(mutex);
  return !somebody_else_has_it(p) || wait_for_it(p);
}

bool take_code_permission(Process& p) {
  std::lock_guard lock(mutex);
  if (somebody_else_has_it(p)) return wait_for_it(p);
  holder = p.id;
  is_taken.store(true, std::memory_order_relaxed);
  return true;
}

bool give_code_permission_back(Process& p) {
  std::vector<Term> go_on;
  {
    std::lock_guard lock(mutex);
    if (!is_taken.load(std::memory_order_relaxed) || holder != p.id) return false;
    is_taken.store(false, std::memory_order_relaxed);
    go_on.swap(waiting);
  }
  for (const Term id : go_on)
    if (Process* q = process_table.find(id)) wake_up(*q);
  return true;
}

}  // namespace vmrun

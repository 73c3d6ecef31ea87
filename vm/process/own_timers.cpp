// SPDX-License-Identifier: Apache-2.0
#include "vm/process/own_timers.hpp"

#include <climits>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "vm/process/process_table.hpp"

namespace vmrun {

void OwnTimers::add(TimerWheel& wheel, RefKey key, Term process) {
  for (int asked = 0; asked < 2 && started_.size() > kFewEnough; ++asked) {
    if (next_asked_ >= started_.size()) next_asked_ = 0;
    Started& s = started_[next_asked_];
    if (s.wheel->look_up(s.key(), 0, false, process) >= 0) {
      ++next_asked_;
    } else {
      s = started_.back();
      started_.pop_back();
    }
  }
  started_.push_back({&wheel, key.low, key.high});
}

void OwnTimers::forget(RefKey key) {
  if (!started_.empty() && started_.back().key() == key) started_.pop_back();
}

bool OwnTimers::give_back(Term process, int* left) {
  for (; !started_.empty() && *left > 0; --*left) {
    const Started& s = started_.back();
    s.wheel->look_up(s.key(), 0, true, process);
    started_.pop_back();
  }
  return started_.empty();
}

namespace {

struct TimersOfOthers {
  std::mutex lock;
  std::unordered_map<Word, std::unique_ptr<OwnTimers>> lists;  // by target
};

constexpr unsigned kShards = usual_or_small<unsigned>(64, 2);
TimersOfOthers shards[kShards];
// Lists in all shards. While there are none, which is usual, a process that ends takes no lock.
std::atomic<std::size_t> list_count{0};

TimersOfOthers& shard_of(Term target) { return shards[std::hash<Word>{}(target.raw() >> 4) % kShards]; }

}  // namespace

void list_timer_of_other(Term target, TimerWheel& wheel, RefKey key) {
  {
    TimersOfOthers& shard = shard_of(target);
    std::lock_guard guard(shard.lock);
    std::unique_ptr<OwnTimers>& list = shard.lists[target.raw()];
    if (!list) {
      list = std::make_unique<OwnTimers>();
      list_count.fetch_add(1, std::memory_order_relaxed);
    }
    list->add(wheel, key, target);
  }
  // Pairs with the fence below: either this thread sees that the target has ended, or the target
  // sees the list.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (process_table.find(target)) return;
  int left = INT_MAX;
  if (const auto list = take_timers_of_others(target)) list->give_back(target, &left);
}

std::unique_ptr<OwnTimers> take_timers_of_others(Term target) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (list_count.load(std::memory_order_relaxed) == 0) return nullptr;
  TimersOfOthers& shard = shard_of(target);
  std::lock_guard guard(shard.lock);
  const auto found = shard.lists.find(target.raw());
  if (found == shard.lists.end()) return nullptr;
  std::unique_ptr<OwnTimers> list = std::move(found->second);
  shard.lists.erase(found);
  list_count.fetch_sub(1, std::memory_order_relaxed);
  return list;
}

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#include "vm/process/own_timers.hpp"

#include <algorithm>

namespace vmrun {

void OwnTimers::add(TimerWheel& wheel, RefKey key, bool own, Term process) {
  if (started_.size() >= ask_at_) {
    std::erase_if(started_,
                  [&](const Started& s) { return s.wheel->look_up(s.key(), 0, false, process) < 0; });
    ask_at_ = std::max(kLeast, 2 * started_.size());
  }
  started_.push_back({&wheel, key.low, key.high, own});
}

void OwnTimers::forget(RefKey key) {
  if (!started_.empty() && started_.back().key() == key) started_.pop_back();
}

bool OwnTimers::give_back(Term process, int* left) {
  for (; !started_.empty() && *left > 0; --*left) {
    const Started& s = started_.back();
    s.wheel->look_up(s.key(), 0, s.own, process);
    started_.pop_back();
  }
  return started_.empty();
}

}  // namespace vmrun

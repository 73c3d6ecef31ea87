// SPDX-License-Identifier: Apache-2.0
#include "vm/base/memory_trim.hpp"

#include <mutex>
#include <utility>
#include <vector>

namespace vmrun {
namespace {

struct Sleeper {
  MemoryTrimmer* trimmer;
  std::function<void()> wake;
};
struct Sleepers {
  std::mutex mutex;
  std::vector<Sleeper> all;
};
Sleepers& sleepers() {
  static auto& one = *new Sleepers;  // never destroyed: threads outlive main
  return one;
}

}  // namespace

void MemoryTrimmer::join(std::function<void()> wake) {
  leave();
  const std::lock_guard lock(sleepers().mutex);
  sleepers().all.push_back({this, std::move(wake)});
}

void MemoryTrimmer::leave() {
  const std::lock_guard lock(sleepers().mutex);
  std::erase_if(sleepers().all, [this](const Sleeper& s) { return s.trimmer == this; });
}

void MemoryTrimmer::ask_others() const {
  const std::lock_guard lock(sleepers().mutex);
  for (const Sleeper& s : sleepers().all) {
    if (s.trimmer == this) continue;
    s.trimmer->asked_.store(true, std::memory_order_seq_cst);
    s.wake();
  }
}

}  // namespace vmrun

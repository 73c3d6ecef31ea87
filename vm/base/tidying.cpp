#include "vm/base/tidying.hpp"

#include <mutex>
#include <utility>
#include <vector>

namespace vmrun {
namespace {

struct Sleeper {
  Tidying* tidying;
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

void Tidying::join(std::function<void()> wake) {
  leave();
  const std::lock_guard lock(sleepers().mutex);
  sleepers().all.push_back({this, std::move(wake)});
}

void Tidying::leave() {
  const std::lock_guard lock(sleepers().mutex);
  std::erase_if(sleepers().all, [this](const Sleeper& s) { return s.tidying == this; });
}

void Tidying::ask_others() const {
  const std::lock_guard lock(sleepers().mutex);
  for (const Sleeper& s : sleepers().all) {
    if (s.tidying == this) continue;
    s.tidying->asked_.store(true, std::memory_order_seq_cst);
    s.wake();
  }
}

}  // namespace vmrun

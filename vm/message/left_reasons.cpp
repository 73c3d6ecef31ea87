#include "vm/message/left_reasons.hpp"

#include <mutex>

#include "vm/heap/copy.hpp"

namespace vmrun {
namespace {

std::mutex mutex;
auto& left = *new FlatTable<RefKey, Fragment*>;  // schedulers may still run when the machine ends

}  // namespace

void leave_reason(RefKey request, Term reason) {
  Fragment* f = new_fragment(copy_size_words(reason));
  f->message = copy_into(*f, reason);
  std::lock_guard guard(mutex);
  left.insert(request, f);
}

void leave_reason_for_all(Process& p, Term reason) {
  FlatTable<RefKey, SpawnRequested>::Entry asked;
  while (p.extra->spawn_requests.take_oldest(&asked)) {
    leave_reason(asked.key, reason);
    asked.value.drop_tag();
    asked.value.drop_monitor_tag();
  }
}

Fragment* take_left_reason(RefKey request) {
  std::lock_guard guard(mutex);
  FlatTable<RefKey, Fragment*>::Entry entry;
  return left.take(request, &entry) ? entry.value : nullptr;
}

}  // namespace vmrun

#include "vm/message/left_reasons.hpp"

#include <mutex>

#include "vm/heap/copy.hpp"
#include "vm/process/process_state.hpp"

namespace vmrun {
namespace {

std::mutex mutex;
auto& left = *new FlatTable<RefKey, Fragment*>;  // schedulers may still run when the machine ends

}  // namespace

void leave_reason(RefKey request, Term reason) {
  Fragment* f = new_fragment(copy_size_words(reason));
  f->message = copy_into(*f, reason);
  std::lock_guard guard(mutex);
  if (!left.insert(request, f)) Fragment::destroy(f);
}

void leave_exit_reason(const Process& p, Term reason) {
  p.extra->spawn_requests.for_each(
      [&](RefKey request, const SpawnRequested&) { leave_reason(request, reason); });
}

Fragment* take_left_reason(RefKey request) {
  std::lock_guard guard(mutex);
  FlatTable<RefKey, Fragment*>::Entry entry;
  return left.take(request, &entry) ? entry.value : nullptr;
}

}  // namespace vmrun

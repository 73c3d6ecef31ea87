// SPDX-License-Identifier: Apache-2.0
#include "vm/message/abandoned_spawns.hpp"

#include <mutex>

#include "vm/heap/copy.hpp"

namespace vmrun {
namespace {

std::mutex mutex;
auto& reasons = *new FlatTable<RefKey, Fragment*>;  // never destroyed: schedulers may outlive main

}  // namespace

void abandon_spawn(RefKey request, Term reason) {
  Fragment* f = new_fragment(copy_size_words(reason));
  f->message = copy_into(*f, reason);
  std::lock_guard guard(mutex);
  reasons.insert(request, f);
}

void abandon_spawns_of(Process& p, Term reason) {
  FlatTable<RefKey, SpawnRequested>::Entry asked;
  while (p.extra->spawn_requests.take_oldest(&asked)) {
    abandon_spawn(asked.key, reason);
    asked.value.drop_tag();
    asked.value.drop_monitor_tag();
  }
}

Fragment* take_abandoned_reason(RefKey request) {
  std::lock_guard guard(mutex);
  FlatTable<RefKey, Fragment*>::Entry entry;
  return reasons.take(request, &entry) ? entry.value : nullptr;
}

}  // namespace vmrun

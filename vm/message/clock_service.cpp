// SPDX-License-Identifier: Apache-2.0
#include "vm/message/clock_service.hpp"

#include <mutex>
#include <vector>

#include "vm/base/epoch.hpp"
#include "vm/base/time_offset.hpp"
#include "vm/heap/copy.hpp"
#include "vm/message/send.hpp"
#include "vm/term/big.hpp"

namespace vmrun {

constinit ClockService clock_service;

namespace {

struct Watch {
  RefKey key;
  Term watcher;
  bool has_alias = false;
  Fragment* tag = nullptr;
};

std::mutex mutex;
std::vector<Watch>& watches() {  // never destroyed: the clock may be set while the machine ends
  static auto& all = *new std::vector<Watch>;
  return all;
}

void tell(const Watch& w, SWord offset_ns) {
  static const Term change = intern_atom("CHANGE");
  Arena arena;
  const Term offset = make_integer(arena, offset_ns);
  Term* hp = arena.alloc(kAliasRefWords);
  const Term ref = w.has_alias ? make_alias_ref(hp, w.key, w.watcher) : make_ref(hp, w.key);
  hp = arena.alloc(6);
  send_from_vm(w.watcher, make_tuple(hp, w.tag ? w.tag->message : change, ref, atoms::time_offset,
                                     atoms::clock_service, offset));
}

}  // namespace

void tell_of_time_offset(SWord offset_ns) {
  // Under the lock, so that a watcher that removes its monitor gets no message afterwards.
  const EpochGuard guard;
  const std::lock_guard lock(mutex);
  for (const Watch& w : watches()) tell(w, offset_ns);
}

void ClockService::watch(Term watcher, RefKey key, Term tag, AliasMode alias) {
  Watch w{key, watcher, alias != AliasMode::kNone, nullptr};
  if (tag) {
    w.tag = new_fragment(copy_size_words(tag, Literals::kCopied));
    w.tag->message = copy_into(*w.tag, tag, Literals::kCopied);
  }
  const std::lock_guard lock(mutex);
  watches().push_back(w);
}

void ClockService::demonitor(Term, Term, RefKey key) {
  const std::lock_guard lock(mutex);
  std::erase_if(watches(), [&](const Watch& w) {
    if (!(w.key == key)) return false;
    if (w.tag) Fragment::destroy(w.tag);
    return true;
  });
}

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "runtime/bif/system_texts.hpp"
#include "runtime/dump/asking.hpp"
#include "runtime/dump/term_walk.hpp"
#include "vm/term/layout.hpp"

// fun_info(Fun, refc): how many fun objects lead to a fun expression of a module. They are not
// counted as they come and go. Instead the call stops the machine and walks all terms. Garbage that
// has not been collected yet is not counted.

namespace vmrun::dump {
namespace {

/// Counts the fun objects that it meets.
struct CountFuns {
  const FunEntry* entry;
  Word* found;
  void operator()(const Term* object) const {
    if (object->header_sub() != Term::Sub::kFun) return;
    const auto& f = *reinterpret_cast<const FunObject*>(object);
    if (!f.is_external && f.entry == entry) ++*found;
  }
};
using FunCount = TermWalk<CountFuns>;

// ---- Where funs are -----------------------------------------------------------------------------

void count_in_messages(FunCount& count, const Fragment* first) {
  for (const Fragment* f = first; f; f = f->next)
    if (f->kind == static_cast<std::uint32_t>(SignalKind::kMessage) ||
        f->kind == static_cast<std::uint32_t>(SignalKind::kPinnedMessage))
      count.add(f->message);
}

void count_in_process(FunCount& count, Process& p) {
  count.add(p.saved_regs, p.saved_regs + p.live_saved);
  count.add(p.heap.stop, p.heap.end);
  visit_roots(
      p,
      [](void* context, Term* terms, std::size_t n) {
        static_cast<FunCount*>(context)->add(terms, terms + n);
      },
      &count);
  count_in_messages(count, inner_queue(p));
  count_in_messages(count, p.mailbox.newest_arrival());
}

}  // namespace

Word count_fun_references(const Process& asking, const FunEntry& entry) {
  Word found = 0;
  FunCount count({&entry, &found});
  auto waits = std::make_unique<Asking>(asking);
  const StoppedMachine stopped;
  for_each_process_at_rest(stopped, [&](Process& p) { count_in_process(count, p); });
  ets::for_each_table([&](const ets::Table& table) {
    for_each_kept(table, [&](const ets::Object& o) { count.add(o.tuple); });
  });
  for_each_persistent_term([&](Term key, Term value) {
    count.add(key);
    count.add(value);
  });
  waits.reset();     // before another process can stop the machine
  return 1 + found;  // 1 for the module's own reference
}

}  // namespace vmrun::dump

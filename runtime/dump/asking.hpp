// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <set>

#include "runtime/dump/machine_view.hpp"
#include "runtime/ets/table.hpp"
#include "vm/process/process_table.hpp"

/// Helpers for built-in functions that stop the machine to find out what refers to something.
namespace vmrun::dump {

/// Marks a process that asks. While it waits for its turn it is on a dirty scheduler, but does not
/// change its heap.
class Asking {
 public:
  explicit Asking(const Process& p) : p_(&p) {
    const std::lock_guard guard(mutex());
    all().insert(p_);
  }
  ~Asking() {
    const std::lock_guard guard(mutex());
    all().erase(p_);
  }
  Asking(const Asking&) = delete;
  static bool asks(const Process& p) {
    const std::lock_guard guard(mutex());
    return all().contains(&p);
  }

 private:
  // Never destroyed: dirty schedulers outlive main.
  static std::mutex& mutex() {
    static std::mutex& m = *new std::mutex;
    return m;
  }
  static std::set<const Process*>& all() {
    static auto& s = *new std::set<const Process*>;
    return s;
  }

  const Process* const p_;
};

// What built-in functions ask: see bif/bif_upcalls.hpp.

Word count_fun_references(const Process& asking, const FunEntry& entry);
Term references_of_nodes(Process& asking);

/// Calls visit(process) for each process whose heap does not change: one that does not run, or that
/// asks as well.
template <class Visit>
void for_each_process_at_rest(const StoppedMachine& stopped, Visit visit) {
  process_table.for_each([&](Process& p) {
    if (p.mailbox.is_closed() || p.exiting.load(std::memory_order_acquire)) return;
    if (!stopped.runs(p) || Asking::asks(p)) visit(p);
  });
}

/// Calls visit(object) for the objects of a table and for the data of its heir.
template <class Visit>
void for_each_kept(const ets::Table& table, Visit visit) {
  if (table.heir_data) visit(*table.heir_data);
  ets::Position at;
  while (at.state != ets::Position::kEnd)
    table.store->walk(at, false, [&](ets::Object* o) {
      if (!o->dead) visit(*o);
      return true;
    });
}

}  // namespace vmrun::dump

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/base/id_table.hpp"
#include "vm/process/process.hpp"

/// All live processes by number (id_table.hpp), and the memory of their structures.
namespace vmrun {

inline constexpr Word kDefaultProcessLimit = Word{1} << 18, kMaxProcessLimit = Word{1} << 27;

class ProcessTable : public IdTable<Process, Term, Term::pid> {
 public:
  /// Called once, before the first process.
  void init(Word limit) { IdTable::init(limit, kMaxProcessLimit, "the process table"); }
};

extern ProcessTable process_table;

/// Takes a process structure from the pool that each scheduler keeps, and gives it back when no
/// thread can read it any more.
Process* allocate_process();
void recycle_process(Process* p);

}  // namespace vmrun

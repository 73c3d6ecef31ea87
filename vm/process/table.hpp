#pragma once

#include "vm/base/id_table.hpp"
#include "vm/process/process.hpp"

/// All live processes by number (id_table.hpp), and where their structures come from.
namespace vmrun {

inline constexpr Word kDefaultProcessLimit = Word{1} << 18, kMaxProcessLimit = Word{1} << 27;

class ProcessTable : public IdTable<Process, Term, Term::pid> {
 public:
  /// Once, before the first process.
  void init(Word limit) { IdTable::init(limit, kMaxProcessLimit, "the process table"); }
};

extern ProcessTable process_table;

/// Process structures come from a pool that each scheduler keeps and are given back when no thread
/// can look at them any more.
Process* allocate_process();
void recycle_process(Process* p);

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "vm/base/upcall.hpp"
#include "vm/term/term.hpp"

namespace vmrun {

struct FunEntry;
struct Process;

/// What built-in functions need of runtime/dump.
struct BifUpcalls {
  /// system_info(procs): a text of all processes, made while nobody else runs. On a dirty
  /// scheduler.
  Upcall<std::string()> processes_text;
  /// {process_dump} of match specifications: the calling process, which is about to execute
  /// program_counter. returns_to: see stack_text.
  Upcall<std::string(Process& p, const Word* program_counter, const Word* returns_to)> running_process_text;
  /// fun_info(Fun, refc): how many fun objects lead to this entry, and one for the module that has
  /// it. Counted while nobody else runs, by the dirty scheduler of the process that asks.
  Upcall<Word(const Process& asking, const FunEntry& entry)> fun_references;
  /// {{node_references, Nodes}, {dist_references, Channels}}: who refers to nodes, as
  /// erts_debug:get_internal_state/1 tells it (dump/node_references.cpp). The same rules.
  Upcall<Term(Process& asking)> node_references;
};
inline constinit BifUpcalls bif_upcalls;

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/base/word.hpp"

/// What a debugger's script (scripts/gdb/vmrun-gdb.py) has to know to find processes, their stacks
/// and their code in the memory of a machine, which may be a core file of a stripped program: names
/// with offsets in structures, sizes, and addresses. The executable exports the list; it ends with
/// a fact without a name. The first fact is the list's version: it changes when a name gets another
/// meaning.
namespace vmrun {

struct DebuggerFact {
  const char* name;  // nullptr: the list ends
  Word value;
};

/// Before there are other threads.
void add_debugger_fact(const char* name, Word value);
inline void add_debugger_fact(const char* name, const void* address) {
  add_debugger_fact(name, reinterpret_cast<Word>(address));
}

}  // namespace vmrun

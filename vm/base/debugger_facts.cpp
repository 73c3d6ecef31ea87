// SPDX-License-Identifier: Apache-2.0
#include "vm/base/debugger_facts.hpp"

#include <cassert>
#include <iterator>

extern "C" {
constinit vmrun::DebuggerFact vmrun_debugger_facts[64] = {{"version", 1}};
}

namespace vmrun {

void add_debugger_fact(const char* name, Word value) {
  for (auto it = std::begin(vmrun_debugger_facts); it + 1 != std::end(vmrun_debugger_facts); ++it)
    if (!it->name) {
      *it = {name, value};
      return;
    }
  assert(false);
}

}  // namespace vmrun

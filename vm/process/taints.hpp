// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "vm/term/term.hpp"

/// erlang:system_info(taints): names of modules and drivers that have brought native code from
/// outside, which may have done anything to the machine. Any thread.
namespace vmrun {

/// Adds a name, for as long as the machine runs.
void note_taint(Term name);
std::vector<Term> taints();

}  // namespace vmrun

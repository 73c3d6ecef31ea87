// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/heap/fragment.hpp"
#include "vm/process/process.hpp"

/// The answer of another node that was asked to spawn a process.
namespace vmrun {

/// Handles the answer. Takes the fragment over.
void handle_spawn_answer(Process& p, Fragment* f);
/// As above, for an asker that has ended. The fragment stays the caller's.
void answer_spawn_answer_dead(Term asker, const Fragment& f);

}  // namespace vmrun

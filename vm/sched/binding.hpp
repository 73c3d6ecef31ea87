// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "vm/base/bind_order.hpp"

/// Schedulers that are bound to processors (+sbt). The schedulers that are online get the first
/// processors of the order, as far as this program may use them; further schedulers are not bound.
/// (sched/bound.hpp is about processes that are bound to schedulers.) Any thread.
namespace vmrun {

BindType bind_type();
/// Returns whether it has been set, which takes places of processors to be known.
bool set_bind_type(BindType type);
/// The logical processor of each scheduler; -1: it is not bound.
std::vector<int> scheduler_bindings();

/// Binds the schedulers again. Called after a change of the places of processors, or of how many
/// schedulers are online.
void bind_schedulers();

// ---- For the start and the end of schedulers ----------------------------------------------------

/// Called before their threads start. With 0: before these end, and none is bound from then on.
void prepare_bindings(unsigned schedulers);
/// Called by the thread of a scheduler before it runs.
void bind_own_thread(unsigned index);

}  // namespace vmrun

#pragma once

#include "vm/process/reference.hpp"

/// What the rest of the machine knows about resources. Any thread.
namespace vmrun {

/// A process that a resource monitors has ended: calls the resource's `down`, unless the monitor or
/// the resource is gone.
void resource_down(RefKey monitor, Term pid);
/// The resource's reference; the non-value when it is gone.
Term monitoring_resource(RefKey monitor, Heap& heap);

}  // namespace vmrun

#pragma once

#include "vm/process/reference.hpp"

/// What the rest of the machine knows about resources. Any thread.
namespace vmrun {

struct Binary;

/// A process that a resource monitors has ended: calls the resource's `down`, unless the monitor or
/// the resource is gone.
void resource_down(RefKey monitor, Term pid);
/// The resource's reference; the non-value when it is gone.
Term monitoring_resource(RefKey monitor, Heap& heap);

// ---- Identity through bytes: a resource's reference that has been through term_to_binary --------

/// From now on find_resource knows it. `resource`: what a magic reference holds.
void expose_resource(Binary* resource);
/// The magic reference for a local reference's numbers, if it is that of an exposed resource that
/// still lives; else the non-value.
Term find_resource(RefKey key, Heap& heap);

}  // namespace vmrun

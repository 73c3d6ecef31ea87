#pragma once

#include "vm/process/process.hpp"
#include "vm/process/reference.hpp"

/// What processes send signals to and what is no process: ports, resources of native code. Filled
/// in by vm/port and vm/nif before main begins. Called by schedulers (or under an EpochGuard).
namespace vmrun {

struct PortSignals {
  /// `Port ! Message`. False: the process waits and sends again when it is resumed, or an exception
  /// is set.
  bool (*send)(Process& from, Term port, Term message) = nullptr;
  void (*exit)(Term from, Term port, Term reason, bool by_link) = nullptr;  // by_link: dropped unless linked
  void (*monitor)(Term port, Term watcher, RefKey key, Term name) = nullptr;
  void (*demonitor)(Term port, RefKey key) = nullptr;
  void (*down)(Term port, RefKey key) = nullptr;  // a process that its driver monitors has ended
};
extern constinit PortSignals port_signals;

struct ResourceSignals {
  /// A process that a resource monitors has ended: calls the resource's `down`, unless the monitor
  /// or the resource is gone.
  void (*down)(RefKey monitor, Term pid) = nullptr;
  /// The reference of the resource that has set this monitor; the non-value when it is gone.
  Term (*watching)(RefKey monitor, Heap& heap) = nullptr;
};
extern constinit ResourceSignals resource_signals;

}  // namespace vmrun

#pragma once

#include "vm/process/process_state.hpp"

/// Whom a program means when it sends, monitors or asks: what a pid, port, name, {Name, Node} or
/// reference stands for is decided here. Any thread.
namespace vmrun {

struct Destination {
  enum class Kind : std::uint8_t {
    kProcess,    // of this node, alive or not
    kPort,       // of this node, open or not
    kAlias,      // of a process of this node, whether or not it still is one
    kNobody,     // a name that nobody has here; a reference that is no alias
    kElsewhere,  // process, port, alias or name of another node
    kNothing,    // not a destination at all
  };
  Kind kind;
  Term who;                // pid, port, reference; as given when it is elsewhere
  bool bare_name = false;  // given as an atom alone
};

Destination find_destination(Term given);

// ---- What is on another node --------------------------------------------------------------------
// There are no connections to other nodes: each is one that cannot be reached.

/// A monitor of a process of another node, which is told noconnection at once. Like start_monitor.
RefKey monitor_unreachable(Process& p, Term target, Term tag, AliasMode alias);
/// Links p to a process of another node: an exit signal noconnection comes back at once. What a BIF
/// returns.
Term link_unreachable(Process& p, Term target);

}  // namespace vmrun

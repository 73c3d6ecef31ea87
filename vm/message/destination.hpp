#pragma once

#include "vm/message/receiver.hpp"

/// Whom a program means when it sends, monitors or asks: what a pid, port, name, {Name, Node} or
/// reference stands for is decided here. Any thread.
namespace vmrun {

struct Destination {
  Receiver* at;            // nullptr: not a destination at all
  Term who;                // pid, port, reference; as given when it is elsewhere
  Term given;              // as the program wrote it
  bool bare_name = false;  // given as an atom alone
};

Destination find_destination(Term given);

/// A pid or port of a node with this one's name, but not of this one: whatever it was has ended.
bool is_of_former_self(Term identifier);

}  // namespace vmrun

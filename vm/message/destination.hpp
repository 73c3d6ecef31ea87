// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/message/receiver.hpp"

/// Finds the receiver that a program means when it sends, monitors or makes a request: the process,
/// port or other thing behind a pid, port, name, {Name, Node} or reference. Any thread.
namespace vmrun {

struct Destination {
  Receiver* at;            // nullptr: not a destination at all
  Term who;                // pid, port, reference; unchanged when it is on another node
  Term given;              // as the program wrote it
  bool bare_name = false;  // given as an atom alone
};

Destination find_destination(Term given);

/// Whether a pid or port belongs to a former node with this node's name. Whatever it identified has
/// ended.
bool is_of_former_self(Term identifier);

}  // namespace vmrun

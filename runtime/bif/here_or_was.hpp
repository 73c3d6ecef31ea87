// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/message/destination.hpp"

namespace vmrun {

/// Whether it is a pid of this node, or of a former node with its name, whose processes have all
/// ended.
inline bool is_here_or_was(Term pid) {
  return pid.is_local_pid() || (pid.is_pid() && is_of_former_self(pid));
}

}  // namespace vmrun

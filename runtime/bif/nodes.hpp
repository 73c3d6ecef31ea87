// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/process/process.hpp"

/// Helpers that functions of other nodes share.
namespace vmrun {

/// The value of erlang:is_alive/0: the node has a name, or waits for one that another node assigns.
bool counts_as_alive(Process& p);

}  // namespace vmrun

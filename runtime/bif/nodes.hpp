#pragma once

#include "vm/process/process.hpp"

/// What functions of other nodes share.
namespace vmrun {

/// What erlang:is_alive/0 says: the node has a name, or waits for the one that others give it.
bool counts_as_alive(Process& p);

}  // namespace vmrun

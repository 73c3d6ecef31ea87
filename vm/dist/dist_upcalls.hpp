// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/base/upcall.hpp"
#include "vm/term/term.hpp"

namespace vmrun {

struct SpawnOptions;

/// What vm/dist needs of higher layers. Any thread.
struct DistUpcalls {
  /// Adds the options of a spawn request to *options. False: bad ones.
  Upcall<bool(Term list, SpawnOptions* options)> read_spawn_options;
};
inline constinit DistUpcalls dist_upcalls;

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "vm/base/upcall.hpp"

namespace vmrun {

/// What vm/port needs of higher layers. They may stay empty: a machine without runtime/ has no
/// programs that load drivers.
struct PortUpcalls {
  /// A driver has gone. Without locks, in the thread that let it go.
  Upcall<void(const std::string& name)> driver_unloaded;
};
inline constinit PortUpcalls port_upcalls;

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/port/driver.hpp"
#include "vm/process/bif.hpp"

/// Reads the arguments of open_port/2 into the options that drivers get.
namespace vmrun {

/// Returns false when the name is bad; the caller raises badarg.
[[nodiscard]] bool read_port_name(Term name, PortOptions* out);
/// Called after the name has been read. Also refuses options that exclude each other or do not fit
/// the kind of port.
[[nodiscard]] bool read_port_options(Term options, PortOptions* out);

}  // namespace vmrun

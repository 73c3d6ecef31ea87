#pragma once

#include "vm/port/driver.hpp"
#include "vm/process/bif.hpp"

/// The arguments of open_port/2, read into what drivers are told.
namespace vmrun {

/// False: something is wrong with the name, or with the options, and badarg is right.
[[nodiscard]] bool read_port_name(Term name, PortOptions* out);
/// After the name. Options that exclude each other or do not fit the kind of port are refused too.
[[nodiscard]] bool read_port_options(Term options, PortOptions* out);

}  // namespace vmrun

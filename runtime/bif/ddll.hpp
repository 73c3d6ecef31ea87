// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace vmrun {

/// Tells the process erl_ddll that a driver has gone. Any thread, without locks.
void tell_driver_server(const std::string& name);

}  // namespace vmrun

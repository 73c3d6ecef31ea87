// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

/// The line that names the machine: system_info(system_version), which shells and crash dumps begin
/// with. Any thread, once the schedulers have started.
namespace vmrun {

std::string system_version();  // without a line end

}  // namespace vmrun

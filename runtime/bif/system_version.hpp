#pragma once

#include <string>

/// The line that names the machine: system_info(system_version), which a shell begins with, and
/// crash dumps. Any thread, once the schedulers have started.
namespace vmrun {

std::string system_version();  // without an end of line

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

/// Reports of the machine about misbehaving drivers, libraries and modules, for the logger. Any
/// thread.
namespace vmrun {

enum class ReportLevel { kWarning, kError };

void report_warning(const std::string& text);
void report_error(const std::string& text);

}  // namespace vmrun

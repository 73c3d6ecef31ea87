#pragma once

#include <string>

/// What the machine has to say about misbehaving drivers, libraries and modules: a report for the
/// logger. Any thread.
namespace vmrun {

enum class ReportLevel { kWarning, kError };

void report_warning(const std::string& text);
void report_error(const std::string& text);
/// Who takes the reports; until then they go to standard error. Once, at start.
void set_error_reporter(void (*reporter)(ReportLevel level, const std::string& text));

}  // namespace vmrun

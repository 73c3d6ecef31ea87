#include "vm/process/report.hpp"

#include <cstdio>

namespace vmrun {
namespace {

void to_standard_error(ReportLevel, const std::string& text) { std::fputs(text.c_str(), stderr); }
void (*report)(ReportLevel level, const std::string& text) = to_standard_error;

}  // namespace

void report_warning(const std::string& text) { report(ReportLevel::kWarning, text); }
void report_error(const std::string& text) { report(ReportLevel::kError, text); }
void set_error_reporter(void (*reporter)(ReportLevel level, const std::string& text)) { report = reporter; }

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#include "vm/process/report.hpp"

#include <cstdio>

#include "vm/process/process_upcalls.hpp"

namespace vmrun {
namespace {

void report(ReportLevel level, const std::string& text) {
  if (process_upcalls.report) process_upcalls.report(level, text);
  else std::fputs(text.c_str(), stderr);
}

}  // namespace

void report_warning(const std::string& text) { report(ReportLevel::kWarning, text); }
void report_error(const std::string& text) { report(ReportLevel::kError, text); }

}  // namespace vmrun

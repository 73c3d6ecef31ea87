// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/process/report.hpp"
#include "vm/term/term.hpp"

/// Reports of the machine: crashed processes, heaps beyond their limit. They are sent to the system
/// logger, which is the process registered as `logger` (contract: runtime/lib/README.md) unless
/// another one is set. If it does not exist they are written to standard error.
namespace vmrun {

struct Process;

/// Returns `logger`, a local process, or `undefined`, with which reports are dropped. When that
/// process has ended, the next report goes to `logger` again. Spec: system_flag(system_logger, _)
/// of erlang(3erl). Any thread.
Term system_logger();
/// Returns the old one.
Term set_system_logger(Term logger);

// The reports.

void report_crash(Process& p, Term reason);
void report_max_heap(Process& p, Word total_words);
void report_text(ReportLevel level, const std::string& text);

}  // namespace vmrun

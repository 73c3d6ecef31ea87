#pragma once

/// Reports of the machine: crashed processes, heaps beyond their limit. They go as messages to the
/// process registered as `logger` (contract: runtime/lib/README.md), or to standard error while
/// there is none.
namespace vmrun {

/// Once, before processes run.
void install_crash_reports();

}  // namespace vmrun

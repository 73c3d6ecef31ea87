#pragma once

#include "vm/term/term.hpp"

/// Reports of the machine: crashed processes, heaps beyond their limit. They go as messages to the
/// system logger, which is the process registered as `logger` (contract: runtime/lib/README.md) as
/// long as no other is named, or to standard error while there is none.
namespace vmrun {

/// `logger`, a local process, or `undefined`: reports are dropped. When the process has ended it is
/// `logger` again from the next report on. As system_flag(system_logger, _) of erlang(3erl). Any
/// thread.
Term system_logger();
/// The old one back.
Term set_system_logger(Term logger);

/// Once, before processes run.
void install_crash_reports();

}  // namespace vmrun

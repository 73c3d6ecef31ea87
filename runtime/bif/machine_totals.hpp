// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "vm/base/word.hpp"

/// What an observer shows of the whole machine: how many processes, ports, atoms and tables there
/// are, the items of erlang:memory/0, and what statistics/1 counts. No process is visited; modules
/// and tables are.
namespace vmrun {

/// Calls take(name, value, limit) for each total. Names are those of system_info/1, of memory/0
/// with `memory_` in front, and of statistics/1. A limit of 0 is none. Any thread.
void each_machine_total(const std::function<void(const char*, Word, Word)>& take);

}  // namespace vmrun

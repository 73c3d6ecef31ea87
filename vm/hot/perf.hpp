// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "vm/term/fun.hpp"

/// What perf is told of hot code, so that it shows our functions and their source lines:
///   /tmp/perf-PID.map   which function lies where (tools/perf/Documentation/jit-interface.txt)
///   /tmp/jit-PID.dump   the code itself with its lines, which `perf inject --jit` makes into ELF
///                       files (tools/perf/Documentation/jitdump-specification.txt): for
///                       `perf record -k mono`, annotate, and code that moves
namespace vmrun {

struct HotFunction;

enum class PerfFiles { kNone, kMap, kDump, kBoth };

/// From here on, in this folder; perf looks for maps in /tmp only. False: a file cannot be written
/// (errno). Before processes run.
bool write_for_perf(PerfFiles files, const std::string& folder);

/// What perf needs to find the callers of the code, if it is to be dumped: appended to it.
void add_unwinding(HotFunction* made);

/// The function has code at this place, from now on. Under the lock of patches.cpp, where `f`'s
/// module is not deleted.
void tell_perf(const FunctionHeader& f, const std::uint8_t* code, const HotFunction& made);
/// Likewise, for code that is no function's. Before processes run.
void tell_perf(const std::string& name, const std::uint8_t* code, const HotFunction& made);

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// What gdb is told of machine code, by the interface that it has for compilers ("JIT Compilation
/// Interface" of its manual): an ELF file in memory, with unwinding information for the whole area,
/// also for code that is made later. So it costs nothing when a function is compiled. Names and
/// lines are found by scripts/gdb/vmrun-gdb.py, which reads the machine's own tables.
namespace vmrun {

struct HotFunction;
class Area;

/// stubs: the code of Stubs, at that place of the area. Once, before processes run.
void tell_gdb(const Area& area, const std::uint8_t* place, const HotFunction& stubs);

}  // namespace vmrun

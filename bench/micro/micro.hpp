// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <string>

/// Benchmarks of single firings and primitives. A name is `group/name`, or `group/name/consumer`
/// where somebody looks. Time is that of a processor.
namespace vmrun::micro {

void register_sites();
void register_texts();
/// Primitives of a machine, which is run as a program of its own. vmrun: its path; primitives: that
/// of primitives.act.
void register_machine(std::string vmrun, std::string primitives);

}  // namespace vmrun::micro

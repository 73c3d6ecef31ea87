// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "probes/d/script/script.hpp"
#include "probes/engine/record.hpp"
#include "probes/print/record_texts.hpp"

/// What a user is told of a record besides its data: its probe, and what went wrong. It keeps no
/// state, and any thread may call it.
namespace vmrun::d {

/// Returns provider, module, function and name of any probe, also of a timer or one that every host
/// has. For named functions it returns what they have in common. probes: the target's.
ProbeInfo probe_info(const std::vector<ProbeInfo>& probes, const Program& program, std::uint32_t number);
/// Returns the probe with the module and name of the function that fired.
ProbeInfo probe_info(const std::vector<ProbeInfo>& probes, const Program& program, std::uint32_t number,
                     Texts& texts);

/// Returns a text such as `divide-by-zero in action #1 at DIF offset 12`, as dtrace has it.
std::string describe_fault(const Fault& fault);

/// Returns the fault of a record that is flagged kRecordFault. words: without the head.
Fault fault_of(std::span<const std::uint64_t> words);

}  // namespace vmrun::d

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "probes/d/script/script.hpp"
#include "probes/engine/record.hpp"
#include "probes/print/texts.hpp"

/// What people are told of a record besides its data: of which probe it is, what went wrong. No
/// state; any thread may call.
namespace vmrun::d {

/// provider, module, function, name of any probe, those of every host and timers included.
/// Of functions by name: what they have in common. probes: the target's.
ProbeInfo probe_info(const std::vector<ProbeInfo>& probes, const Program& program, std::uint32_t number);
/// With the module and name of a function that fires by name.
ProbeInfo probe_info(const std::vector<ProbeInfo>& probes, const Program& program, std::uint32_t number,
                     Texts& texts);

/// `divide-by-zero in action #1 at DIF offset 12`, as dtrace says it.
std::string describe_fault(const Fault& fault);

/// Of a record that is flagged kRecordFault. words: without the head.
Fault fault_of(std::span<const std::uint64_t> words);

}  // namespace vmrun::d

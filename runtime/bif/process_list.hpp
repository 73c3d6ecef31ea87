// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/process/process_table.hpp"

/// erlang:processes/0, for erts_debug:get_internal_state/1.
namespace vmrun {

/// Reductions for each process of the list, and number of empty places of the table that cost one.
inline constexpr SWord kReductionsPerListed = 1, kPlacesPerReduction = ProcessTable::Walk::kStepsOfOne;

/// Lists all processes at once, however many there are; the scheduler is blocked meanwhile.
Term list_processes_at_once(Process& p);

}  // namespace vmrun

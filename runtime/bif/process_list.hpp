#pragma once

#include "vm/process/table.hpp"

/// erlang:processes/0, as erts_debug:get_internal_state/1 knows it.
namespace vmrun {

/// Reductions that a process of the list costs, and what places of the table cost without one.
inline constexpr SWord kReductionsPerListed = 1, kPlacesPerReduction = ProcessTable::Walk::kStepsOfOne;

/// All there are, however many: the scheduler waits for it.
Term list_processes_at_once(Process& p);

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The drivers that are part of the program.
namespace vmrun {

/// Called once, at start, when the number of async threads is known and before a process runs.
void register_linked_in_drivers();

}  // namespace vmrun

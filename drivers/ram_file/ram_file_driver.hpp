// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/include/erl_driver.h"

/// Files in memory: entry `ram_file_drv` of the linked-in drivers, for the module ram_file.
/// Commands and answers: docs/internals/files.md, "Files in memory".
namespace vmrun::ram_file {

ErlDrvEntry* driver_entry();

}  // namespace vmrun::ram_file

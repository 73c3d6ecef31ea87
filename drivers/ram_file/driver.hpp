#pragma once

#include "vm/include/erl_driver.h"

/// Files in memory: entry `ram_file_drv` of the linked-in drivers, which the module ram_file speaks
/// to. Commands and answers: docs/internals/files.md, "Files in memory".
namespace vmrun::ram_file {

ErlDrvEntry* driver_entry();

}  // namespace vmrun::ram_file

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/include/erl_driver.h"

/// The file driver: entry `efile` of the linked-in drivers.
namespace vmrun::efile {

ErlDrvEntry* driver_entry();

}  // namespace vmrun::efile

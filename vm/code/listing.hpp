// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace vmrun {

struct Module;

/// +JDdump: the bytecode instructions of every module go to MODULE.asm in the current directory
/// when it is loaded. Written before the first module is loaded, then only read.
inline bool listings_wanted = false;

/// Writes that file. Any thread. A file that cannot be written is reported on standard error.
void write_listing(const Module& m);

}  // namespace vmrun

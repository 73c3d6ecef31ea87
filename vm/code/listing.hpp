#pragma once

namespace vmrun {

struct Module;

/// +JDdump: the machine's own instructions of every module, as it is loaded, go to MODULE.asm in
/// the current directory. Written before the first module, then only read.
inline bool listings_wanted = false;

/// Any thread. A file that cannot be written is told of on standard error.
void write_listing(const Module& m);

}  // namespace vmrun

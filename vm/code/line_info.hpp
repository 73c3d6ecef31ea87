#pragma once

namespace vmrun {

/// +L: places in code have no file and line. Written before the first process, then only read.
inline bool lines_left_out = false;

}  // namespace vmrun

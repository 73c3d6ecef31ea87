// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace vmrun {

/// +L: code has no file and line. Written before the first process begins, then only read.
inline bool lines_left_out = false;

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/base/upcall.hpp"
#include "vm/base/word.hpp"

namespace vmrun {

/// What vm/base needs of higher layers. Any thread.
struct BaseUpcalls {
  /// The time offset has changed.
  Upcall<void(SWord offset_ns)> offset_changed;
};
inline constinit BaseUpcalls base_upcalls;

}  // namespace vmrun

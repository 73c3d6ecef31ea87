// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "vm/base/upcall.hpp"
#include "vm/base/word.hpp"

namespace vmrun {

/// What probes/attach needs of higher layers. A machine without runtime/ has no such totals.
struct AttachUpcalls {
  /// Calls take(name, value, limit) for each total of the machine; a limit of 0 is none. The thread
  /// that traces calls this.
  Upcall<void(const std::function<void(const char*, Word, Word)>& take)> each_total;
};
inline constinit AttachUpcalls attach_upcalls;

}  // namespace vmrun

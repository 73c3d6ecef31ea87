// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/process/process_state.hpp"

namespace vmrun {

/// Called when p hibernates, in the thread that runs p. Its calls are abandoned, so none of the
/// returns that tracing awaits (call_trace.hpp) will come.
void leave_traced_calls(Process& p);

}  // namespace vmrun

#pragma once

#include "vm/process/process_state.hpp"

namespace vmrun {

/// p hibernates, in its own thread: the calls that it is in are left, so none of the returns that
/// tracing awaits (call_trace.hpp) will come.
void leave_traced_calls(Process& p);

}  // namespace vmrun

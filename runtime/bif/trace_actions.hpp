// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/trace/call_trace.hpp"

/// Match specifications of tracing: what trace/trace_upcalls.hpp asks for.
namespace vmrun {

bool match_traced_call(Process& p, Term specification, Term arguments, TracedCall& call);
bool match_traced_message(Process& p, const SessionRef& session, Term specification, Term arguments,
                          Term* message);

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/trace/trace.hpp"

/// Lists of trace flags as erlang:trace/3 and the functions of match specifications take them.
namespace vmrun {

/// Returns 0 when there is no such flag.
std::uint32_t trace_flag_bit(Term name);

struct TraceFlags {
  std::uint32_t bits = 0;
  Term to, state = Term::nil();  // of {tracer, …}; non-value: not given
  bool cpu_stamps = false;
};
/// Returns false when the term is not a list of flags and tracers.
bool read_trace_flags(Term list, TraceFlags* flags);
/// Reads {tracer, To} or {tracer, Module, State}. Returns false for another term.
bool read_tracer(Term option, TraceFlags* flags);

/// Returns the session that a program names, {Reference, {Name, Id}} or {Name, Id}; nullptr when
/// there is no such session, or not any more.
SessionRef named_session(Term t);

struct SystemMonitor;
/// Returns what a system monitor wants, as a list.
Term monitor_options(Process& p, const SystemMonitor& m);

}  // namespace vmrun

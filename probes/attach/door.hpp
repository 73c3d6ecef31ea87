#pragma once

/// Where vmtrace comes in. A machine that nobody traces has a handler for one signal and nothing
/// else: no thread, no socket. The signal starts the tracing thread, which listens on a socket, has
/// a session for each connection, and goes when the last one is closed.
namespace vmrun::attach {

/// The signal that asks for it (wire.hpp).
int door_signal();

/// Starts the tracing thread, unless there is one. Not in a signal handler.
void open_door();

/// When this machine was started by vmtrace (VMRUN_TRACE_FD): starts the tracing thread with that
/// connection, and returns when the script runs, or the connection is gone. Before the first
/// process.
void start_under_trace();

/// The machine ends: scripts run their END, and vmtrace gets a moment to ask for what it wants.
void close_door();

}  // namespace vmrun::attach

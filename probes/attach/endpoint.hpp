#pragma once

#include <functional>
#include <memory>

#include "probes/attach/tracing_session.hpp"

/// Where vmtrace comes in, and the thread that controls all tracing. A machine that nobody traces
/// has a handler for one signal and nothing else: no thread, no socket. The signal starts the
/// tracing thread, which listens on a socket, has a session for each connection, and goes when the
/// last one is closed. A program inside the machine (probes/erltrace) starts it too, and has it do
/// what sessions need.
namespace vmrun::attach {

/// The signal that asks for it (wire.hpp).
int attach_signal();

/// Starts the tracing thread, unless there is one. Not in a signal handler.
void open_endpoint();

/// When this machine was started by vmtrace (VMRUN_TRACE_FD): starts the tracing thread with that
/// connection, and returns when the script runs, or the connection is gone. Before the first
/// process.
void start_under_trace();

/// The machine ends: scripts run their END, and vmtrace gets a moment to ask for what it wants.
void close_endpoint();

/// Has the tracing thread do this, without waiting for it; jobs are done in their order. False: it
/// is not going to, for the machine ends or there is no thread to be had. Any thread.
[[nodiscard]] bool post(std::function<void()> job);
/// The same, and returns when it has been done. Not in the tracing thread, not on a scheduler.
[[nodiscard]] bool run(const std::function<void()>& job);

/// A session of the machine's own. All in the tracing thread.
class Insider {
 public:
  virtual TracingSession& tracing() = 0;
  /// What is due by the clock, and every few milliseconds.
  virtual void tick() = 0;

 protected:
  ~Insider() = default;  // a shared_ptr knows the real one
};
/// It ticks from now on, and the thread stays for it. Kept until it is left alone or the machine
/// ends, even when its owner is gone: who goes when the machine ends can post nothing any more.
void look_after(std::shared_ptr<Insider> insider);
void leave_alone(const Insider& insider);

}  // namespace vmrun::attach

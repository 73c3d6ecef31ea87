#pragma once

#include <functional>
#include <memory>

#include "probes/attach/tracing_session.hpp"

/// The attach endpoint, by which vmtrace reaches a machine, and the thread that controls all
/// tracing. A machine that is not traced has a handler for one signal and nothing else: no thread
/// and no socket. The signal starts the tracing thread, which listens on a socket, keeps a session
/// for each connection, and ends when the last one is closed. A program inside the machine
/// (probes/erltrace) starts the thread too and has it do what sessions need.
namespace vmrun::attach {

/// The signal that asks for the endpoint (wire.hpp).
int attach_signal();

/// Starts the tracing thread unless it runs. Not for signal handlers.
void open_endpoint();

/// When this machine was started by vmtrace (VMRUN_TRACE_FD): starts the tracing thread with that
/// connection, and returns when the script runs, or the connection is gone. Before the first
/// process.
void start_under_trace();

/// Called when the machine ends: scripts run their END clauses, and vmtrace has a moment to ask for
/// what it needs.
void close_endpoint();

/// Has the tracing thread run `job` without waiting for it. Jobs run in their order. Returns false
/// if the job will not run, because the machine ends or no thread can be started. Any thread.
[[nodiscard]] bool post(std::function<void()> job);
/// As post, but returns when the job has run. Not for the tracing thread or schedulers.
[[nodiscard]] bool run(const std::function<void()>& job);

/// A session of a program in this machine. Called by the tracing thread only.
class Insider {
 public:
  virtual TracingSession& tracing() = 0;
  /// Does what is due by the clock. Called every few milliseconds.
  virtual void tick() = 0;

 protected:
  ~Insider() = default;  // a shared_ptr knows the derived destructor
};
/// From now on the tracing thread calls tick, and stays for it. The session is kept until
/// leave_alone or until the machine ends, even when its owner is gone: an owner that goes while the
/// machine ends cannot post a job any more.
void look_after(std::shared_ptr<Insider> insider);
void leave_alone(const Insider& insider);

}  // namespace vmrun::attach

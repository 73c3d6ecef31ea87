// SPDX-License-Identifier: Apache-2.0
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

/// Returns the signal that asks for the endpoint (attach_protocol.hpp).
int attach_signal();

/// Starts the tracing thread unless it runs. Signal handlers must not call it.
void open_endpoint();

/// When vmtrace has started this machine (VMRUN_TRACE_FD): starts the tracing thread with that
/// connection. Returns when the script runs, or the connection is gone. It is called before the
/// first process starts.
void start_under_trace();

/// Called when the machine ends: scripts run their END clauses, and vmtrace has a moment to ask for
/// what it needs.
void close_endpoint();

/// Has the tracing thread run `job` without waiting for it. Jobs run in their order. Returns false
/// if the job will not run, because the machine ends or no thread can be started. Any thread may
/// call it.
[[nodiscard]] bool post(std::function<void()> job);
/// Works as post, but returns when the job has run. Neither the tracing thread nor schedulers may
/// call it.
[[nodiscard]] bool run(const std::function<void()>& job);

/// A session of a program in this machine. Only the tracing thread calls it.
class Insider {
 public:
  virtual TracingSession& tracing() = 0;
  /// Does what is due by the clock. Called every few milliseconds.
  virtual void tick() = 0;

 protected:
  ~Insider() = default;  // a shared_ptr knows the derived destructor
};
/// From now on the tracing thread calls tick and does not end. The session is kept until
/// leave_alone or until the machine ends, even when its owner is gone. The reason is that an owner
/// that goes while the machine ends cannot post a job any more.
void look_after(std::shared_ptr<Insider> insider);
void leave_alone(const Insider& insider);

}  // namespace vmrun::attach

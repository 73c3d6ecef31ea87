// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "probes/engine/program.hpp"
#include "probes/engine/session.hpp"

/// A session on this machine, and what the machine does for it while it runs: firings reach it, the
/// ends of processes are reported, processes store where they are. Its owner is what asked for it:
/// vmtrace (consumer_connection.hpp) or a program (probes/erltrace). Only the tracing thread uses
/// it.
namespace vmrun::attach {

class TracingSession {
 public:
  /// Verifies the program. Returns nullptr and `why` when it must not run.
  static std::unique_ptr<TracingSession> open(d::Program program, std::string& why);
  /// Ends the session without END. When it returns, no thread is inside a firing of it.
  ~TracingSession();
  TracingSession(const TracingSession&) = delete;

  /// Runs BEGIN, then enables the probes.
  void go();
  /// Disables the probes, then runs the script's END, once. Before go it does nothing.
  void end();
  bool runs() const { return running_; }
  /// Whether the ends of processes are to be reported (firing.hpp).
  bool uses_self() const { return running_ && uses_self_; }
  /// Whether only clocks fire (tick-N, profile-N, wall-N).
  bool waits_for_clocks() const { return waits_for_clocks_; }

  /// tick() does what is due by the clock. next_tick() returns when it is to be called next, as
  /// timestamp (0: by no clock).
  void tick();
  std::uint64_t next_tick() { return running_ ? session_->next_tick() : 0; }

  d::Session& session() { return *session_; }

 private:
  TracingSession() = default;
  void stop_watching();

  std::unique_ptr<d::Session> session_;
  bool uses_self_ = false, uses_places_ = false, waits_for_clocks_ = false, running_ = false;
};

}  // namespace vmrun::attach

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "probes/engine/program.hpp"
#include "probes/engine/session.hpp"

/// A session on this machine, and what the machine does for it while it runs: firings reach it, the
/// ends of processes are told, processes store where they are. Whoever asked for it, vmtrace
/// (connection.hpp) or a program (probes/erltrace), owns it. The tracing thread only.
namespace vmrun::attach {

class TracingSession {
 public:
  /// Verifies; nullptr and `why` when the program must not run.
  static std::unique_ptr<TracingSession> open(d::Program program, std::string& why);
  /// Ends it without END. Nobody is inside a firing of it when it returns.
  ~TracingSession();
  TracingSession(const TracingSession&) = delete;

  /// BEGIN, then the probes.
  void go();
  /// The probes are off, then the script's END. Once; before go it does nothing.
  void end();
  bool runs() const { return running_; }
  /// Whether the ends of processes are to be told (firing.hpp).
  bool uses_self() const { return running_ && uses_self_; }
  /// Whether only clocks fire (tick-N, profile-N, wall-N).
  bool waits_for_clocks() const { return waits_for_clocks_; }

  /// What is due by the clock; when it is to be called next, as timestamp (0: by no clock).
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

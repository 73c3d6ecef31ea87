// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "probes/attach/tracing_session.hpp"
#include "probes/engine/attach_protocol.hpp"

/// One vmtrace and its session. Only the tracing thread uses it.
namespace vmrun::attach {

class Connection {
 public:
  explicit Connection(int descriptor) : channel_(descriptor, d::Channel::Descriptors::kRefused) {}
  Connection(const Connection&) = delete;

  int descriptor() const { return channel_.descriptor(); }
  bool wants_to_send() const { return channel_.wants_to_send(); }
  /// Reads, answers and sends. Returns false when the connection is over. Throws std::bad_alloc
  /// when there is no memory for a request.
  [[nodiscard]] bool serve();
  /// Does what is due by the clock, and reports what has changed.
  void tick();
  /// Returns the session while it traces, else nullptr.
  TracingSession* tracing() const { return runs() ? tracing_.get() : nullptr; }
  bool runs() const { return tracing_ && tracing_->runs(); }
  bool has_gone() const { return gone_; }
  /// Runs the script's END, unless it has run.
  void end();

 private:
  void handle(const d::Channel::Received& received);
  void open(const std::string& bytes);
  void go();
  d::Session& session() { return tracing_->session(); }
  void tell_rings();
  void tell_exit();
  void answer_atoms(std::uint32_t index);
  void answer_names(const std::string& body, const std::function<std::string(std::uint64_t)>& name);
  void answer_functions(const std::string& body);

  d::Channel channel_;
  std::unique_ptr<TracingSession> tracing_;
  bool gone_ = false;  // kGo has come, or kStop without it: a script runs once
  bool reported_exit_ = false;
};

}  // namespace vmrun::attach

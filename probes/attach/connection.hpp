#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "probes/attach/tracing_session.hpp"
#include "probes/engine/wire.hpp"

/// One vmtrace and its session. The tracing thread only.
namespace vmrun::attach {

class Connection {
 public:
  explicit Connection(int descriptor) : channel_(descriptor, d::Channel::Descriptors::kRefused) {}
  Connection(const Connection&) = delete;

  int descriptor() const { return channel_.descriptor(); }
  bool wants_to_send() const { return channel_.wants_to_send(); }
  /// Reads, answers and sends. False: it is over. std::bad_alloc: there is no memory for what it
  /// asks for.
  [[nodiscard]] bool serve();
  /// What is due by the clock, and telling what has changed.
  void tick();
  /// What it traces, while it does.
  TracingSession* tracing() const { return runs() ? tracing_.get() : nullptr; }
  bool runs() const { return tracing_ && tracing_->runs(); }
  bool has_gone() const { return gone_; }
  /// The script's END, if that has not been.
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
  bool gone_ = false;  // kGo has come, or kStop before it: a script runs once
  bool told_exit_ = false;
};

}  // namespace vmrun::attach

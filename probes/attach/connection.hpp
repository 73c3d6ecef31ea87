#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "probes/engine/session.hpp"
#include "probes/engine/wire.hpp"

/// One vmtrace and its session. The tracing thread only.
namespace vmrun::attach {

class Connection {
 public:
  explicit Connection(int descriptor) : channel_(descriptor) {}
  ~Connection();
  Connection(const Connection&) = delete;

  int descriptor() const { return channel_.descriptor(); }
  bool wants_to_send() const { return channel_.wants_to_send(); }
  /// Reads, answers and sends. False: it is over.
  [[nodiscard]] bool serve();
  /// What is due by the clock, and telling what has changed.
  void tick();
  /// When tick is to be called next, as timestamp; 0: never.
  std::uint64_t next_tick();
  bool runs() const { return running_; }
  bool has_gone() const { return gone_; }
  /// The script's END, if that has not been.
  void end();
  bool uses_self() const { return running_ && uses_self_; }

 private:
  void handle(const d::Channel::Received& received);
  void open(const std::string& bytes);
  void go();
  void stop_watching();
  void tell_rings();
  void tell_exit();
  void answer_atoms(std::uint32_t index);
  void answer_names(const std::string& body, const std::function<std::string(std::uint64_t)>& name);
  void answer_functions(const std::string& body);

  d::Channel channel_;
  std::unique_ptr<d::Session> session_;
  std::size_t rings_told_ = 0;
  bool uses_self_ = false, uses_places_ = false, running_ = false, gone_ = false, told_exit_ = false;
};

}  // namespace vmrun::attach

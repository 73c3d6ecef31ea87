#pragma once

#include "vm/dist/connection.hpp"

/// A process as the controller of a connection, as carriers other than plain TCP need it: it
/// fetches packets and hands over those that have come in (erlang:dist_ctrl_get_data/1 and its
/// likes). The connection ends when the process does, for the same reason.
namespace vmrun::dist {

class ProcessConnection final : public Connection {
 public:
  ProcessConnection(Channel& channel, Term controller, Flags flags)
      : Connection(channel, controller, flags), input_handler_(controller.raw()) {}

  void wake() override;
  void end(Term reason) override;

  // In the thread of the controller, or of the input handler.
  Term input_handler() const { return Term::from_raw(input_handler_.load(std::memory_order_relaxed)); }
  void set_input_handler(Term pid) { input_handler_.store(pid.raw(), std::memory_order_relaxed); }
  /// False: it was bad, and the controller is to end.
  [[nodiscard]] bool put_data(const std::uint8_t* data, std::size_t size, Binary* binary);
  /// False: there is nothing.
  [[nodiscard]] bool get_data(Packet* packet);
  /// The message dist_data, once, as soon as there is something.
  void notify_of_data();

  std::atomic<bool> with_size{false};  // option get_size

 private:
  void send_notification();

  std::atomic<Word> input_handler_;
  std::mutex input_mutex_;   // the handler may change
  std::mutex output_mutex_;  // guards the output, and
  bool wants_notification_ = false;
};

}  // namespace vmrun::dist

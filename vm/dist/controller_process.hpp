// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/dist/connection.hpp"

/// A process as the controller of a connection, which carriers other than plain TCP need. It
/// fetches packets to be sent and hands over those that have arrived (erlang:dist_ctrl_get_data/1
/// and related functions). The connection ends when the process does, for the same reason.
namespace vmrun::dist {

class ProcessConnection final : public Connection {
 public:
  ProcessConnection(Channel& channel, Term controller, Flags flags)
      : Connection(channel, controller, flags), input_handler_(controller.raw()) {}

  void wake() override;
  void end(Term reason) override;

  // Called in the thread that runs the controller or the input handler.
  Term input_handler() const { return Term::from_raw(input_handler_.load(std::memory_order_relaxed)); }
  void set_input_handler(Term pid) { input_handler_.store(pid.raw(), std::memory_order_relaxed); }
  /// Returns false if the data are malformed; the controller has to end.
  [[nodiscard]] bool put_data(const std::uint8_t* data, std::size_t size, Binary* binary);
  /// Returns false if there is nothing to send.
  [[nodiscard]] bool get_data(Packet* packet);
  /// Sends the message dist_data once, as soon as there is something to send.
  void notify_of_data();

  std::atomic<bool> with_size{false};  // option get_size

 private:
  void send_notification();

  std::atomic<Word> input_handler_;
  std::mutex input_mutex_;   // needed because the input handler may change
  std::mutex output_mutex_;  // guards the output and wants_notification_
  bool wants_notification_ = false;
};

/// A process ends, and with it the connections that it controls. False: that takes more calls.
bool end_connections(Process& p);

}  // namespace vmrun::dist

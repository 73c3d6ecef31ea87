// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/dist/connection.hpp"
#include "vm/port/port.hpp"

/// A port as the controller of a connection. From the moment it is attached, what its driver
/// delivers goes to the connection and not to the port's owner. Packets go out through the driver's
/// output or outputv, in a task of the port, several in each turn. While the driver is busy, the
/// rest waits. Nothing is read while there are too many answers to send (Channel::owes_much). The
/// connection ends when the port closes, for the same reason.
namespace vmrun::dist {

class PortConnection final : public Connection, public PortPeer {
 public:
  using Connection::Connection;

  /// Called by the port's holder, once connected.
  static void attach(Port& p, std::shared_ptr<PortConnection> connection);

  void wake() override;
  void end(Term reason) override;

  void input(Port& p, const std::uint8_t* bytes, std::size_t size, Binary* binary) override;
  bool wants_no_input() override { return channel.owes_much(); }
  void put_off(PortTask* reading) override { put_off_.reset(reading); }
  void not_busy(Port& p) override;
  void closing(Port& p, Term reason) override;
  bool is_closing(Port& p, bool all) override;

  /// Called in a task of the port.
  void output(Port& p);

 private:
  void send(Port& p, const Packet& packet);
  void send_some(Port& p);
  void read_again(Port& p);

  std::unique_ptr<PortTask> put_off_;
  std::unique_ptr<ConnectionDown> down_;  // while processes are being told
  bool is_refused_ = false;               // malformed input has arrived: the rest is not read
};

}  // namespace vmrun::dist

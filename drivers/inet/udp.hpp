// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "drivers/inet/inet_socket.hpp"
#include "drivers/inet/input_buffer.hpp"

/// A socket of udp_inet: datagrams, over UDP or local. See inet_socket.hpp.
namespace vmrun::inet {

class UdpSocket final : public Socket {
 public:
  UdpSocket() : Socket(kDatagram) {}

  void output(ErlIOVec& data) override;
  void readable() override;
  void writable() override {}  // a packet that cannot be sent at once is an error
  void time_is_up() override;
  void flush() override {}
  void stop() override;

 protected:
  std::optional<Answer> request(unsigned number, Reader& in) override;
  Life options_changed(const Settings& before) override;
  void adopted() override {}
  bool waits_for_input() const override;
  Deadline earliest_deadline() const override { return receiving_.earliest(); }
  ErlDrvTermData passive_word() const override { return words().udp_passive; }

 private:
  struct Packet;
  Answer connect(Reader& in);
  Answer receive(Reader& in);
  /// Delivers one packet, or an error, to the process that waits for it. Returns false when there
  /// is none.
  bool read_one();
  void failed(int error);
  void answer_receiver(const Packet& packet);
  void tell_owner_of(const Packet& packet);
  void deliver_to_port(const Packet& packet);
  /// Adds the data behind the bytes of `front`, in the form that the options ask for.
  void add_data(Message& m, std::string_view front, std::size_t size) const;

  Operations receiving_;
  InputBuffer input_;  // empty except while a packet is delivered
};

}  // namespace vmrun::inet

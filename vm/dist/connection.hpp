// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string>

#include "vm/dist/channel.hpp"
#include "vm/dist/wire/wire.hpp"

/// A connection while it is up. Its controller carries the bytes: a port (controller_port.hpp) or a
/// process (controller_process.hpp). It lives as long as the channel or the controller refers to
/// it.
namespace vmrun::dist {

class Connection {
 public:
  Connection(Channel& channel, Term controller, Flags flags);
  virtual ~Connection() { channel.release(); }
  Connection(const Connection&) = delete;

  Channel& channel;
  const Term controller;  // a port or pid of this node
  const Flags flags;
  Word number = 0;             // the number that the channel gave it, once connected
  std::uint32_t creation = 0;  // of the node at the other end; set before it is connected

  /// There is something to send and there was nothing before. Any thread.
  virtual void wake() = 0;
  /// Ends the connection and its controller. Any thread.
  virtual void end(Term reason) = 0;
  /// Reports that something that has arrived is malformed, and ends the connection. Any thread.
  void refuse(const char* wrong);

  bool is_visible() const { return flags & flag::kPublished; }
  Route route() { return {&channel, number, flags, false}; }

  std::atomic<Word> packets_in{0}, packets_out{0};

 protected:
  /// Handles a packet that has arrived. Called by the thread that holds the input, under an epoch.
  /// Returns false if it is malformed; that has been reported, and the controller has to end.
  [[nodiscard]] bool receive(const std::uint8_t* data, std::size_t size, Binary* binary);
  /// Takes the next packet to go out. Called by the thread that holds the output. Returns false if
  /// there is none; wake will be called later.
  [[nodiscard]] bool next_packet(Packet* packet);
  /// Whether there is a packet to go out; if not, wake will be called later.
  [[nodiscard]] bool has_output() { return !output_.empty() || channel.take(*this, output_); }
  /// Called after some packets have been sent.
  void report_left() { channel.report_left(*this, output_); }

 private:
  bool bad_ = false;  // whether something malformed has arrived
  std::atomic<bool> refused_{false};
  Input input_;
  OutputQueue output_;
};

}  // namespace vmrun::dist

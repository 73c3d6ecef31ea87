#pragma once

#include <atomic>
#include <string>

#include "vm/dist/channel.hpp"
#include "vm/dist/wire/wire.hpp"

/// A connection while it is up, and who carries its bytes: a port (controller_port.hpp) or a
/// process (controller_process.hpp). Lives as long as the channel or the controller refers to it.
namespace vmrun::dist {

class Connection {
 public:
  Connection(Channel& channel, Term controller, Flags flags);
  virtual ~Connection() { channel.release(); }
  Connection(const Connection&) = delete;

  Channel& channel;
  const Term controller;  // a port or pid of this node
  const Flags flags;
  Word number = 0;             // the channel's, once connected
  std::uint32_t creation = 0;  // of the node at the other end; before it is connected

  /// There is something to send, where there was nothing. Any thread.
  virtual void wake() = 0;
  /// The connection is to end, and with it its controller. Any thread.
  virtual void end(Term reason) = 0;
  /// Something that has come in turns out to be bad: reports that, and ends it. Any thread.
  void refuse(const char* wrong);

  bool is_visible() const { return flags & flag::kPublished; }
  Route route() { return {&channel, number, flags, false}; }

  std::atomic<Word> packets_in{0}, packets_out{0};

 protected:
  /// A packet has come in. By who holds the input, under an epoch. False: it is bad, and has been
  /// reported; the controller is to end.
  [[nodiscard]] bool receive(const std::uint8_t* data, std::size_t size, Binary* binary);
  /// The next packet to go out; by who holds the output. False: there is none, wake will be called.
  [[nodiscard]] bool next_packet(Packet* packet);
  /// Whether there is one; if not, wake will be called.
  [[nodiscard]] bool has_output() { return !output_.empty() || channel.take(*this, output_); }
  /// After some of them.
  void report_left() { channel.report_left(*this, output_); }

 private:
  bool bad_ = false;  // what has come in
  std::atomic<bool> refused_{false};
  Input input_;
  OutputQueue output_;
};

}  // namespace vmrun::dist

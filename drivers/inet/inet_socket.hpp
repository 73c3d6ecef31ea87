// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "drivers/inet/address.hpp"
#include "drivers/inet/bytes.hpp"
#include "drivers/inet/settings.hpp"
#include "drivers/inet/socket_message.hpp"
#include "drivers/inet/socket_operations.hpp"
#include "drivers/inet/statistics.hpp"

/// An instance of tcp_inet or udp_inet: one port, one socket. This class has what both kinds share:
/// the descriptor's life, names, options, numbers. tcp.hpp and udp.hpp have the rest.
///
/// Used in the port's callbacks only, so by one thread at a time. Network errors only lead to
/// answers and messages. Functions that may end the port, and with it this object, say so with
/// Life.
namespace vmrun::inet {

enum class [[nodiscard]] Life : bool{kOver, kGoesOn};

class Socket {
 public:
  explicit Socket(SocketType type) : type_(type) {}
  virtual ~Socket() = default;
  Socket(const Socket&) = delete;

  /// Called once, before any callback.
  void attach(ErlDrvPort port);

  // ---- Callbacks of the driver (erl_driver.h) ----
  ErlDrvSSizeT control(unsigned command, const char* bytes, std::size_t size, char** room,
                       std::size_t room_size);
  virtual void output(ErlIOVec& data) = 0;
  virtual void readable() = 0;
  virtual void writable() = 0;
  virtual void time_is_up() = 0;
  virtual void flush() = 0;
  virtual void process_gone(const ErlDrvMonitor&) {}
  virtual void stop();

 protected:
  // ---- What the kinds add ----
  /// Answers a request that only one kind has. Returns nothing for an unknown request.
  virtual std::optional<Answer> request(unsigned number, Reader& in) = 0;
  /// Called after options have been set. `before`: their old values. May end the port.
  virtual Life options_changed(const Settings& before) = 0;
  /// Called after an open descriptor has been taken over.
  virtual void adopted() = 0;
  virtual bool waits_for_input() const = 0;
  /// Returns the status bits of this kind.
  virtual std::uint32_t more_status() const { return 0; }
  virtual Deadline earliest_deadline() const = 0;
  /// Returns the number of bytes that are not sent yet.
  virtual std::size_t unsent() const { return driver_sizeq(port_); }
  /// Called when a process waits for the output to go out before it closes the socket.
  virtual void is_about_to_close() {}
  /// tcp_passive, udp_passive
  virtual ErlDrvTermData passive_word() const = 0;

  // ---- The descriptor ----
  bool is_open() const { return fd_ >= 0; }
  bool is_connected() const { return status_ & kStatusConnected; }
  bool is_listening() const { return status_ & kStatusListen; }
  bool has(std::uint32_t status) const { return status_ & status; }
  void set_status(std::uint32_t bits, bool on = true) { status_ = on ? status_ | bits : status_ & ~bits; }
  /// Begins or ends to wait for a direction.
  void select(int mode, bool on);
  /// Says whether these directions are ready, as far as is known (vm/port/select.hpp).
  void note_ready(int mode, bool ready);
  /// Waits for input if the settings and the current operations ask for it.
  void update_input() { select(ERL_DRV_READ, waits_for_input()); }
  void update_timer();
  void timer_has_fired();
  /// Seconds that closing waits for unsent output; 0: it does not wait.
  int linger_seconds() const;
  /// Closes the socket; the port stays. Never blocks: a caller that has to wait has done so before
  /// (is_about_to_close).
  void close_descriptor();

  // ---- Messages ----
  /// Begins {inet_async, Port, Id, Result}; the caller adds the result, then calls finish_async.
  Message async_message(const Operation& op);
  void finish_async(Message& m, const Operation& op) { m.tuple(4).send(op.caller); }
  void answer_async(const Operation& op);
  void fail_async(const Operation& op, ErlDrvTermData reason);
  /// Takes from the front of output what says who has sent it: since OTP 26 two bytes with the size
  /// of a reference, and that. The machine sends without. Ends the port, and returns false, when
  /// these bytes are not there.
  bool take_sender(ErlIOVec& data, Sender* sender);
  /// {inet_reply, Port, ok | {error, Reason}}, with the sender's reference as a fourth element.
  void reply(const Sender& to);
  void reply_error(const Sender& to, ErlDrvTermData reason);
  /// Sends {Tag, Port}, or {Tag, Port, What}, to the owner.
  void tell_owner(ErlDrvTermData tag);
  void tell_owner(ErlDrvTermData tag, ErlDrvTermData what);
  /// Called after one message to the owner: {active, once} ends with it, and {active, N} may end.
  void count_delivery();
  void output_queue_is_empty();
  bool is_about_to_be_closed() const { return subscriber_; }

  /// Whether packets are delivered with the options they came with.
  bool wants_packet_options() const { return packet_options_wanted_; }

  ErlDrvTermData owner() const { return driver_connected(port_); }

  ErlDrvPort port_ = nullptr;
  int fd_ = -1;
  int system_family_ = 0;
  Settings settings_;
  Traffic received_, sent_;

 private:
  Answer handle(unsigned number, Reader& in);
  Answer open(Reader& in);
  Answer open_descriptor(Reader& in);
  Answer bind(Reader& in);
  Answer name(bool peer) const;
  Answer set_name(std::optional<Address>& name, Reader& in);
  Answer get_statistics(Reader& in) const;
  Answer get_status() const;
  Answer get_type() const;
  Answer ignore_descriptor(Reader& in);
  Answer subscribe(Reader& in);
  Answer set_options(Reader& in);
  Answer get_options(Reader& in) const;
  int set_option(Reader& in);
  int set_own_option(Option option, std::int32_t value, Reader& in);
  void note_packet_option(Option option, bool wanted);
  int set_active(std::int32_t value, Reader& in);
  int set_message_queue_limit(Option option, std::int32_t value);
  bool get_option(Option option, Reader& in, Answer& out) const;
  bool get_own_option(Option option, Answer& out) const;
  bool get_kind_option(Option option, Answer& out) const;
  bool get_packet_options(Answer& out) const;

  SocketType type_;
  std::uint64_t packet_options_wanted_ = 0;  // recvtos, recvtclass, recvttl: one bit each
  std::uint32_t status_ = 0;
  bool ignored_ = false;           // other code uses the descriptor at the moment
  bool prebound_ = false;          // the descriptor came from outside, and is closed there
  int wanted_ = 0;                 // directions to wait for
  int selected_ = 0;               // directions that are selected now
  ErlDrvTermData subscriber_ = 0;  // gets the message about the empty output queue; 0: none
  Deadline timer_ = kNever;
  std::optional<Address> sock_name_, peer_name_;  // shown instead of the real ones
  std::optional<std::string> namespace_;          // netns: the file of the network namespace for opening
};

}  // namespace vmrun::inet

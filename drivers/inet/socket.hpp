#pragma once

#include <optional>
#include <string>

#include "drivers/inet/address.hpp"
#include "drivers/inet/bytes.hpp"
#include "drivers/inet/message.hpp"
#include "drivers/inet/operations.hpp"
#include "drivers/inet/settings.hpp"
#include "drivers/inet/statistics.hpp"

/// An instance of tcp_inet or udp_inet: one port, one socket. Here is what both kinds have in
/// common: the descriptor's life, names, options, numbers; tcp.hpp and udp.hpp have the rest.
///
/// Used in the port's callbacks only, so by one thread at a time. Errors of the network are answers
/// and messages, never more. Functions that may end the port, and with it this object, say so with
/// Life.
namespace vmrun::inet {

enum class [[nodiscard]] Life : bool{kOver, kGoesOn};

class Socket {
 public:
  explicit Socket(SocketType type) : type_(type) {}
  virtual ~Socket() = default;
  Socket(const Socket&) = delete;

  /// Once, before any callback.
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
  /// Requests that are not common to both. Nothing: there is no such request.
  virtual std::optional<Answer> request(unsigned number, Reader& in) = 0;
  /// Options have been set. `before`: what they were. May end the port.
  virtual Life options_changed(const Settings& before) = 0;
  /// A descriptor has been taken over from elsewhere.
  virtual void adopted() = 0;
  virtual bool waits_for_input() const = 0;
  /// The rest of what a status says.
  virtual std::uint32_t more_status() const { return 0; }
  virtual Deadline earliest_deadline() const = 0;
  /// Bytes that are not sent yet.
  virtual std::size_t unsent() const { return driver_sizeq(port_); }
  /// Somebody waits for the output to go out, to close then.
  virtual void is_about_to_close() {}
  /// tcp_passive, udp_passive
  virtual ErlDrvTermData passive_word() const = 0;

  // ---- The descriptor ----
  bool is_open() const { return fd_ >= 0; }
  bool is_connected() const { return status_ & kStatusConnected; }
  bool is_listening() const { return status_ & kStatusListen; }
  bool has(std::uint32_t status) const { return status_ & status; }
  void set_status(std::uint32_t bits, bool on = true) { status_ = on ? status_ | bits : status_ & ~bits; }
  /// Begins or ends to wait.
  void select(int mode, bool on);
  /// The directions are (not) known to be exhausted (vm/port/select.hpp).
  void note_ready(int mode, bool ready);
  /// What the settings and the operations under way ask for.
  void update_input() { select(ERL_DRV_READ, waits_for_input()); }
  void update_timer();
  void timer_has_fired();
  /// Seconds that closing is to wait for what is unsent; 0: it is not to wait.
  int linger_seconds() const;
  /// The socket is gone; the port stays. Never waits: who closes has done that (is_about_to_close).
  void close_descriptor();

  // ---- Telling ----
  /// {inet_async, Port, Id, Result}: begins it; the result is to be added, then finish_async.
  Message async_message(const Operation& op);
  void finish_async(Message& m, const Operation& op) { m.tuple(4).send(op.caller); }
  void answer_async(const Operation& op);
  void fail_async(const Operation& op, ErlDrvTermData reason);
  /// {inet_reply, Port, ok | {error, Reason}}
  void reply(ErlDrvTermData to);
  void reply_error(ErlDrvTermData to, ErlDrvTermData reason);
  /// {Tag, Port} to the owner, and {Tag, Port, What}.
  void tell_owner(ErlDrvTermData tag);
  void tell_owner(ErlDrvTermData tag, ErlDrvTermData what);
  /// One message has gone to the owner: {active, once} ends with it, {active, N} may.
  void count_delivery();
  void output_queue_is_empty();
  bool is_about_to_be_closed() const { return subscriber_; }

  /// Packets are told of with the options they came with.
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
  std::uint64_t packet_options_wanted_ = 0;  // recvtos, recvtclass, recvttl: a bit each
  std::uint32_t status_ = 0;
  bool ignored_ = false;           // the descriptor is somebody else's to use for the time being
  bool prebound_ = false;          // and to close
  int wanted_ = 0;                 // directions to wait for
  int selected_ = 0;               // those that are waited for
  ErlDrvTermData subscriber_ = 0;  // to be told of an empty output queue; 0: nobody
  Deadline timer_ = kNever;
  std::optional<Address> sock_name_, peer_name_;  // said in place of the real ones
  std::optional<std::string> namespace_;          // netns: the file of the network namespace to open in
};

}  // namespace vmrun::inet

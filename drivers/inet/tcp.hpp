// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "drivers/inet/inet_socket.hpp"
#include "drivers/inet/input_buffer.hpp"
#include "vm/packet/framing.hpp"

/// A socket of tcp_inet: streams, over TCP or local. See inet_socket.hpp.
namespace vmrun::inet {

/// A file transfer that is under way.
struct FileTransfer {
  int fd;  // a duplicate that the transfer owns
  std::uint64_t at, left, sent = 0;
  std::size_t queued_before = 0;  // queued bytes that are sent first
  ErlDrvTermData caller;
  ~FileTransfer();
};

class TcpSocket final : public Socket {
 public:
  TcpSocket() : Socket(kStream) {}

  void output(ErlIOVec& data) override;
  void readable() override;
  void writable() override;
  void time_is_up() override;
  void flush() override;
  void process_gone(const ErlDrvMonitor& monitor) override;
  void stop() override;

 protected:
  std::optional<Answer> request(unsigned number, Reader& in) override;
  Life options_changed(const Settings& before) override;
  void adopted() override { was_connected_ = is_connected(); }
  bool waits_for_input() const override;
  std::uint32_t more_status() const override;
  Deadline earliest_deadline() const override;
  ErlDrvTermData passive_word() const override { return words().tcp_passive; }
  std::size_t unsent() const override;
  void is_about_to_close() override;

 private:
  // ---- Connections: tcp.cpp ----
  Answer connect(Reader& in);
  void connected();
  Answer listen(Reader& in);
  Answer accept(Reader& in);
  void accept_waiting();
  /// Returns a connection that waits to be accepted, or nothing; *error is an errno if that is the
  /// reason.
  int accept_one(int* error);
  void give(const Operation& op, int fd);
  Answer shutdown(Reader& in);

  // ---- Receiving: tcp_input.cpp ----
  Answer receive(Reader& in);
  Answer unreceive(Reader& in);
  /// Reads available bytes, for a limited time, and delivers them.
  Life read();
  /// Delivers received bytes as far as processes want them.
  Life deliver();
  void deliver_packet(std::size_t length);
  struct HttpSink;
  void deliver_http(std::string_view bytes);
  void deliver_tls(std::string_view bytes);
  template <class Put>
  void deliver_parsed(Put put);
  void deliver_data(std::size_t offset, std::size_t size);
  void deliver_to_port(std::size_t offset, std::size_t size);
  void add_data(Message& m, std::size_t offset, std::size_t size) const;
  PacketType packet_type() const;
  PacketLength next_packet() const;
  std::size_t usual_read() const;
  std::size_t read_ahead() const;

  // ---- Sending: tcp_output.cpp ----
  void send(ErlIOVec& data, Sender sender);
  void gather(const ErlIOVec& data);
  bool add_length(ErlIOVec& data, char* header) const;
  Life write_queue();
  void set_busy(Sender sender);
  void not_busy();
  void fail_blocked(ErlDrvTermData reason);
  void send_timed_out();
  void drop_output();
  void end_output();
  void linger_on();
  bool is_being_acknowledged() const;

  // ---- Sending a file: tcp_file.cpp ----
  Answer send_file(Reader& in);
  Life write_file();
  /// Sends {sendfile, Port, {ok, Low, High} | {error, Reason}}; reason 0: success.
  void end_file(ErlDrvTermData reason);

  // ---- The end of a connection: tcp.cpp ----
  Life peer_closed();
  Life receive_failed(int error);
  Life send_failed(int error, const Sender* sender);
  /// Does the rest after the owner of an active socket has been told.
  Life end_active(int error);
  void tell_closed();
  void fail_operations(ErlDrvTermData reason);

  Operations connecting_, accepting_, receiving_;
  InputBuffer input_;
  std::size_t wanted_ = 0;          // bytes needed for the next delivery, if known
  std::size_t receive_length_ = 0;  // bytes that the current operation asks for; 0: any number
  bool in_headers_ = false;         // http: the first line has been received
  std::vector<Sender> blocked_;     // those whose answer waits until there is room
  Deadline send_deadline_ = kNever;
  std::unique_ptr<FileTransfer> file_;  // under way, behind what is queued
  bool gathers_ = false;                // queued output waits only for more output, not for the system
  bool shutdown_pending_ = false;       // to be done when all output is written
  bool output_ended_ = false;           // the end has been sent, or is being sent, to the other side
  bool lingers_ = false;                // the closing process waits until the other side has everything
  bool was_connected_ = false;
  bool closed_reported_ = false;  // the owner has been told
  // The answer to the first sender or receiver after the end; 0: none.
  ErlDrvTermData next_send_ = 0, next_receive_ = 0;
};

}  // namespace vmrun::inet

// SPDX-License-Identifier: Apache-2.0
// Receiving on a stream: reading, cutting into packets, delivering them.

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "drivers/inet/system_calls.hpp"
#include "drivers/inet/tcp.hpp"
#include "vm/packet/http.hpp"

namespace vmrun::inet {
namespace {

constexpr int kReadsAtOnce = 2;  // then others get their turn
constexpr std::size_t kLargeRead = 64 * 1024;
constexpr std::uint32_t kMostWanted = 64 << 20;
// If a port receives packets of this size, more will follow: they are the parts of a long message.
// They are read together, and each may keep all of them from being freed.
constexpr std::size_t kLongPacket = 48 * 1024;
constexpr std::size_t kBytesAhead = 4 * kLongPacket;

}  // namespace

// ---- Requests -----------------------------------------------------------------------------------

/// timeout | length
Answer TcpSocket::receive(Reader& in) {
  if (!is_connected()) {
    if (!next_receive_) return Answer::failed(ENOTCONN);
    const bool closed = next_receive_ == words().closed;
    next_send_ = next_receive_ = 0;
    return closed ? Answer::failed("closed") : Answer::failed(ECONNRESET);
  }
  const std::uint32_t timeout = in.u32(), length = in.u32();
  if (!in.done() || settings_.active != Active::kPassive) return Answer::failed(EINVAL);
  if (length > kMostWanted) return Answer::failed(ENOMEM);
  if (!receiving_.empty()) return Answer::failed(EALREADY);
  const Operation op{next_operation_id(), driver_caller(port_), deadline_after(timeout), {}};
  receiving_.add(op);
  receive_length_ = length;
  // A passive socket does not end its port, so the result is ignored.
  static_cast<void>(deliver());
  if (!receiving_.empty()) static_cast<void>(read());
  if (!receiving_.empty() && timeout == 0) fail_async(receiving_.take(), words().timeout);
  if (!receiving_.empty()) {
    update_input();
    update_timer();
  }
  return Answer().u16(op.id);
}

Answer TcpSocket::unreceive(Reader& in) {
  if (!is_connected()) return Answer::failed(ENOTCONN);
  input_.push_front(in.rest());
  static_cast<void>(deliver());
  return {};
}

// ---- Reading ------------------------------------------------------------------------------------

/// If everything is delivered at once, reads as much as is available. A program may set `buffer` to
/// megabytes, for instance to the size of the kernel's own buffer. So much room is made only when
/// that many bytes have arrived.
std::size_t TcpSocket::usual_read() const {
  const bool all = settings_.active == Active::kAlways || settings_.active == Active::kCounted;
  if (const std::size_t least = least_header(packet_type()); least && !settings_.reads_ahead)
    return least > input_.size() ? least - input_.size() : 1;
  const std::size_t most = settings_.buffer_bytes;
  if (most <= kLargeRead) return all ? kLargeRead : most;
  const std::size_t beyond_there = bytes_there(fd_) + 1;  // one more, so that a short read shows that nothing
                                                          // is left
  return std::clamp(beyond_there, kLargeRead, most);
}

std::size_t TcpSocket::read_ahead() const {
  return settings_.to_port && settings_.reads_ahead && wanted_ >= kLongPacket ? kBytesAhead : 0;
}

Life TcpSocket::read() {
  note_ready(ERL_DRV_READ, false);
  bool exhausted = false;
  for (int left = kReadsAtOnce; left && !exhausted && waits_for_input(); --left) {
    const InputBuffer::Room room = input_.room(wanted_, read_ahead(), usual_read());
    if (!room.size) return receive_failed(ENOMEM);
    const ssize_t n = receive_now(fd_, room.at, room.size);
    if (n == 0) return peer_closed();
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno != EAGAIN) return receive_failed(errno);
    exhausted = n < static_cast<ssize_t>(room.size);
    if (n < 0) break;
    input_.filled(static_cast<std::size_t>(n));
    if (deliver() == Life::kOver) return Life::kOver;
  }
  if (!exhausted) note_ready(ERL_DRV_READ, true);
  input_.settle(wanted_, read_ahead());
  return Life::kGoesOn;
}

// ---- Delivering ---------------------------------------------------------------------------------

/// After its first line an http message consists of headers.
PacketType TcpSocket::packet_type() const {
  const auto type = static_cast<PacketType>(settings_.packet_type);
  if (!in_headers_) return type;
  if (type == PacketType::kHttp) return PacketType::kHttpHeader;
  return type == PacketType::kHttpBin ? PacketType::kHttpHeaderBin : type;
}

PacketLength TcpSocket::next_packet() const {
  const PacketType type = packet_type();
  const bool is_passive = settings_.active == Active::kPassive;
  if (type != PacketType::kRaw)
    return packet_length(type, input_.bytes(), input_.size(),
                         {settings_.packet_size, settings_.buffer_bytes, settings_.line_delimiter});
  if (is_passive && receive_length_) return {PacketLength::Kind::kKnown, receive_length_};
  return {PacketLength::Kind::kKnown, std::min<std::size_t>(input_.size(), settings_.buffer_bytes)};
}

Life TcpSocket::deliver() {
  wanted_ = 0;
  const auto wants = [this] { return settings_.active != Active::kPassive || !receiving_.empty(); };
  while (is_connected() && wants()) {
    if (input_.size() == 0) {
      // Only a caller that asks for a number of bytes knows it before they arrive.
      if (settings_.active == Active::kPassive && packet_type() == PacketType::kRaw)
        wanted_ = receive_length_;
      break;
    }
    const PacketLength next = next_packet();
    if (next.kind == PacketLength::Kind::kBad) return receive_failed(EMSGSIZE);
    if (next.kind == PacketLength::Kind::kMore) break;
    if (next.bytes > input_.size()) {
      wanted_ = next.bytes;
      break;
    }
    deliver_packet(next.bytes);
    input_.drop(next.bytes);
  }
  return Life::kGoesOn;
}

/// Puts the terms of http into a message.
struct TcpSocket::HttpSink {
  Message& m;
  bool binaries;
  void atom(std::string_view name) { m.atom(driver_mk_atom(const_cast<char*>(std::string(name).c_str()))); }
  void number(std::uint64_t n) { m.number(static_cast<std::int64_t>(n)); }
  void text(std::string_view bytes) { binaries ? m.binary(bytes) : m.list_of(bytes); }
  void tuple(unsigned n) { m.tuple(n); }
};

/// Delivers {http, Port, Packet} to the owner, or {ok, Packet} to the receiving process.
void TcpSocket::deliver_http(std::string_view bytes) {
  const PacketType type = packet_type();
  const HttpPacket packet = parse_http(type, bytes);
  if (packet.kind == HttpPacket::Kind::kEndOfHeaders) in_headers_ = false;
  else if (packet.kind != HttpPacket::Kind::kError) in_headers_ = true;
  deliver_parsed([&](Message& m, bool to_owner) {
    HttpSink sink{m, http_as_binaries(type)};
    if (to_owner) m.atom(words().http).port(port_);
    put_http(sink, packet);
    if (to_owner) m.tuple(3);
  });
}

/// {ssl_tls, Port, Type, {Major, Minor}, Data}, likewise.
void TcpSocket::deliver_tls(std::string_view bytes) {
  const TlsRecord record = parse_tls(bytes);
  const std::string data = record.front + std::string(bytes.substr(record.begin));
  deliver_parsed([&](Message& m, bool) {
    m.atom(words().ssl_tls).port(port_).number(record.type);
    m.number(record.major).number(record.minor).tuple(2).binary(data).tuple(5);
  });
}

/// put(message, is_owners): adds a term to a message, for the owner or for a receiver.
template <class Put>
void TcpSocket::deliver_parsed(Put put) {
  if (settings_.active == Active::kPassive) {
    const Operation op = receiving_.take();
    Message m = async_message(op);
    m.atom(words().ok);
    put(m, false);
    m.tuple(2);
    finish_async(m, op);
    return update_timer();
  }
  Message m;
  put(m, true);
  m.send(owner());
  count_delivery();
}

void TcpSocket::deliver_packet(std::size_t length) {
  received_.count(length);
  const PacketType type = packet_type();
  const std::string_view packet(reinterpret_cast<const char*>(input_.bytes()), length);
  if (is_http(type)) return deliver_http(packet);
  if (type == PacketType::kSslTls) return deliver_tls(packet);
  const PacketBody body = packet_body(type, input_.bytes(), length);
  deliver_data(body.begin, body.size);
}

/// Adds data in the form of the options: a list, a binary, or a list in front of a binary.
void TcpSocket::add_data(Message& m, std::size_t offset, std::size_t size) const {
  const std::string_view bytes(reinterpret_cast<const char*>(input_.bytes()) + offset, size);
  const std::size_t header = settings_.header_bytes;
  if (!settings_.binary || header > size) {
    m.list_of(bytes);
  } else {
    input_.add_binary(m, offset + header, size - header);
    if (header) m.in_front(bytes.substr(0, header));
  }
}

void TcpSocket::deliver_data(std::size_t offset, std::size_t size) {
  if (settings_.active == Active::kPassive) {
    const Operation op = receiving_.take();
    Message m = async_message(op);
    m.atom(words().ok);
    add_data(m, offset, size);
    m.tuple(2);
    finish_async(m, op);
    return update_timer();
  }
  if (settings_.to_port) {
    deliver_to_port(offset, size);
  } else {
    Message m;
    m.atom(words().tcp).port(port_);
    add_data(m, offset, size);
    m.tuple(3).send(owner());
  }
  count_delivery();
}

/// Delivers {Port, {data, D}}, or a packet of the distribution if the port is a connection to
/// another node.
void TcpSocket::deliver_to_port(std::size_t offset, std::size_t size) {
  char* bytes = input_.binary()->orig_bytes + input_.offset() + offset;
  const std::size_t header = settings_.header_bytes;
  if (!settings_.binary || header > size) driver_output2(port_, bytes, size, nullptr, 0);
  else
    driver_output_binary(port_, bytes, header, input_.binary(), input_.offset() + offset + header,
                         size - header);
}

}  // namespace vmrun::inet

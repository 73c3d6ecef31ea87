// SPDX-License-Identifier: Apache-2.0
#include "drivers/inet/udp.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "drivers/inet/packet_options.hpp"

namespace vmrun::inet {

/// A packet that has been received; its bytes are in the input buffer.
struct UdpSocket::Packet {
  Address from;
  std::size_t size = 0;
  bool has_options = false;  // options were asked for, even if there are none
  msghdr message{};
  alignas(cmsghdr) char control[128];
};

namespace {

ErlDrvTermData option_word(Option option) {
  static const ErlDrvTermData tos = driver_mk_atom(const_cast<char*>("tos")),
                              tclass = driver_mk_atom(const_cast<char*>("tclass")),
                              ttl = driver_mk_atom(const_cast<char*>("ttl"));
  return option == kTypeOfService ? tos : option == kTrafficClass ? tclass : ttl;
}

/// [{tos, N}…]
void add_options(Message& m, msghdr& message) {
  unsigned count = 0;
  for_each_packet_option(message, [&](Option option, std::uint32_t value) {
    m.atom(option_word(option)).number(value).tuple(2);
    ++count;
  });
  m.list(count);
}

/// Adds the address of a packet's sender as messages to the owner show it: IP, Port, or {local,
/// Path}, 0.
void add_address(Message& m, const Address& a, std::string_view written) {
  Reader in(written.data(), written.size());
  const std::uint8_t family = in.u8();
  if (family == kInet || family == kInet6) {
    const std::uint16_t port = in.u16();
    const unsigned parts = family == kInet ? 4 : 8;
    for (unsigned i = 0; i < parts; ++i) m.number(family == kInet ? in.u8() : in.u16());
    m.tuple(parts).number(port);
    return;
  }
  const bool local = family == kLocal && a.size > sizeof a.any.sa_family;
  if (local) in.u8();
  m.atom(local ? words().local : words().unspec).binary(in.rest()).tuple(2).number(0);
}

/// Returns the sender's address; a local sender without a name gets `unspecified`.
std::string written_address(const Address& a) {
  Answer out;
  if (a.any.sa_family == AF_UNIX && a.size <= sizeof a.any.sa_family) out.u8(kUnspecified);
  else write_address(out, a);
  return std::string(out.all().substr(1));
}

}  // namespace

std::optional<Answer> UdpSocket::request(unsigned number, Reader& in) {
  if (!is_open()) return {};
  switch (number) {
    case kConnect: return connect(in);
    case kReceivePacket: return receive(in);
  }
  return {};
}

/// timeout | address. Does not block; the answer has the form of a stream's.
Answer UdpSocket::connect(Reader& in) {
  in.u32();
  Address to;
  if (const int error = read_address(in, system_family_, &to)) return Answer::failed(error);
  if (is_connected()) {  // the old peer would decide the address to send from
    const sockaddr nowhere{.sa_family = AF_UNSPEC, .sa_data = {}};
    (void)::connect(fd_, &nowhere, sizeof nowhere);
  }
  if (::connect(fd_, &to.any, to.size) != 0) return Answer::failed(errno);
  set_status(kStatusConnected);
  const Operation op{next_operation_id(), driver_caller(port_), kNever, {}};
  answer_async(op);
  return Answer().u16(op.id);
}

// ---- Sending ------------------------------------------------------------------------------------

namespace {

constexpr std::size_t kMostInFront = 512;  // address and options of a packet to be sent

/// The part of a command in front of its data: address | size of options | options.
struct Front {
  Address to;
  std::size_t bytes = 0;  // size of this part
  alignas(cmsghdr) char control[128];
  std::size_t control_bytes = 0;
};

int add_control(Front& front, const PacketOption& kind, int value) {
  if (front.control_bytes + CMSG_SPACE(sizeof value) > sizeof front.control) return EINVAL;
  auto* c = reinterpret_cast<cmsghdr*>(front.control + front.control_bytes);
  c->cmsg_level = kind.level;
  c->cmsg_type = kind.sent;
  c->cmsg_len = CMSG_LEN(sizeof value);
  std::memcpy(CMSG_DATA(c), &value, sizeof value);
  front.control_bytes += CMSG_SPACE(sizeof value);
  return 0;
}

int read_front(Reader in, int system_family, Front* front) {
  const std::size_t all = in.left();
  if (const int error = read_address(in, system_family, &front->to)) return error;
  const std::uint32_t size = in.u32();
  const std::string_view options = in.bytes(size);
  if (!in.good()) return EINVAL;
  front->bytes = all - in.left();
  for (Reader o(options.data(), options.size()); o.left();) {
    const std::uint8_t option = o.u8();
    const int value = o.i32();
    const auto* kind = std::ranges::find(kPacketOptionKinds, option, &PacketOption::option);
    if (!o.good() || kind == std::end(kPacketOptionKinds)) return EINVAL;
    if (const int error = add_control(*front, *kind, value)) return error;
  }
  return 0;
}

/// Returns the rest of the vectors.
std::vector<iovec> without_front(const ErlIOVec& data, std::size_t skip) {
  std::vector<iovec> rest;
  rest.reserve(static_cast<std::size_t>(data.vsize));
  for (int i = 0; i < data.vsize; ++i) {
    const std::size_t size = data.iov[i].iov_len, begin = std::min(skip, size);
    skip -= begin;
    if (begin < size) rest.push_back({static_cast<char*>(data.iov[i].iov_base) + begin, size - begin});
  }
  return rest;
}

}  // namespace

void UdpSocket::output(ErlIOVec& data) {
  Sender sender;
  if (!take_sender(data, &sender)) return;
  if (!is_open()) return reply_error(sender, errno_word(EINVAL));
  char first[kMostInFront];
  const std::size_t size = driver_vec_to_buf(&data, first, sizeof first);
  Front front;
  if (const int error = read_front(Reader(first, size), system_family_, &front))
    return reply_error(sender, errno_word(error));
  std::vector<iovec> rest = without_front(data, front.bytes);
  msghdr m{};
  if (!is_connected()) {  // a connected socket does not take an address
    m.msg_name = &front.to.any;
    m.msg_namelen = front.to.size;
  }
  m.msg_iov = rest.data();
  m.msg_iovlen = rest.size();
  if (front.control_bytes) {
    m.msg_control = front.control;
    m.msg_controllen = front.control_bytes;
  }
  sent_.count(data.size - front.bytes);
  ssize_t n;
  do n = sendmsg(fd_, &m, MSG_NOSIGNAL);
  while (n < 0 && errno == EINTR);
  if (n < 0) reply_error(sender, errno_word(errno));
  else reply(sender);
}

// ---- Receiving ----------------------------------------------------------------------------------

/// timeout | length, 4 bytes
Answer UdpSocket::receive(Reader& in) {
  const std::uint32_t timeout = in.u32();
  in.u32();  // a length, which is ignored in favour of the buffer's
  if (!in.done() || settings_.active != Active::kPassive) return Answer::failed(EINVAL);
  if (!receiving_.empty()) return Answer::failed(EALREADY);
  const Operation op{next_operation_id(), driver_caller(port_), deadline_after(timeout), {}};
  receiving_.add(op);
  note_ready(ERL_DRV_READ, false);
  if (read_one()) note_ready(ERL_DRV_READ, true);
  if (!receiving_.empty() && timeout == 0) fail_async(receiving_.take(), words().timeout);
  if (!receiving_.empty()) {
    update_input();
    update_timer();
  }
  return Answer().u16(op.id);
}

bool UdpSocket::waits_for_input() const {
  return is_open() && (!receiving_.empty() || settings_.active != Active::kPassive);
}

/// A socket that becomes passive stays selected: see TcpSocket.
Life UdpSocket::options_changed(const Settings&) {
  if (waits_for_input()) update_input();
  return Life::kGoesOn;
}

void UdpSocket::readable() {
  if (!waits_for_input()) {
    note_ready(ERL_DRV_READ, true);
    return select(ERL_DRV_READ, false);
  }
  bool more = true;
  for (std::uint32_t left = settings_.read_packets; left && more && waits_for_input(); --left)
    more = read_one();
  if (more) note_ready(ERL_DRV_READ, true);
}

void UdpSocket::time_is_up() {
  timer_has_fired();
  if (const auto op = receiving_.take_overdue(now_ms())) fail_async(*op, words().timeout);
  update_timer();
}

bool UdpSocket::read_one() {
  const bool passive = settings_.active == Active::kPassive;
  const InputBuffer::Room room = input_.room(0, 0, settings_.buffer_bytes);
  if (!room.size) {
    failed(ENOMEM);
    return true;
  }
  Packet packet;
  iovec bytes{room.at, room.size};
  msghdr& m = packet.message;
  m.msg_name = &packet.from.any;
  m.msg_namelen = packet.from.size;
  m.msg_iov = &bytes;
  m.msg_iovlen = 1;
  m.msg_control = packet.control;
  m.msg_controllen = sizeof packet.control;
  const ssize_t n = recvmsg(fd_, &m, 0);
  if (n < 0) {
    const int error = errno;
    input_.clear();
    if (error == EAGAIN) return false;
    if (error != EINTR) failed(error);
    return true;
  }
  packet.from.size = m.msg_namelen;
  packet.size = static_cast<std::size_t>(n);
  packet.has_options = wants_packet_options();
  input_.filled(packet.size);
  received_.count(packet.size);
  if (passive) answer_receiver(packet);
  else tell_owner_of(packet);
  input_.clear();
  return true;
}

/// The socket stays open, because the next packet may be correct.
void UdpSocket::failed(int error) {
  if (settings_.active != Active::kPassive) return tell_owner(words().udp_error, errno_word(error));
  if (receiving_.empty()) return;
  fail_async(receiving_.take(), errno_word(error));
  update_timer();
}

void UdpSocket::add_data(Message& m, std::string_view front, std::size_t size) const {
  const std::string_view bytes(reinterpret_cast<const char*>(input_.bytes()), size);
  const std::size_t header = settings_.header_bytes;
  if (!settings_.binary || header > size) {
    m.list_of(bytes);
  } else {
    input_.add_binary(m, header, size - header);
    if (header) m.in_front(bytes.substr(0, header));
  }
  if (!front.empty()) m.in_front(front);
}

/// {ok, [Family, … | Data]}, or {ok, {[Family, … | Data], Options}}
void UdpSocket::answer_receiver(const Packet& packet) {
  const Operation op = receiving_.take();
  const std::string from = written_address(packet.from);
  Message m = async_message(op);
  m.atom(words().ok);
  add_data(m, from, packet.size);
  if (packet.has_options) {
    add_options(m, const_cast<msghdr&>(packet.message));
    m.tuple(2);
  }
  m.tuple(2);
  finish_async(m, op);
  update_timer();
}

/// {udp, Port, IP, PortNumber, Data}, or {udp, Port, IP, PortNumber, Options, Data}
void UdpSocket::tell_owner_of(const Packet& packet) {
  const std::string from = written_address(packet.from);
  if (settings_.to_port) {
    deliver_to_port(packet);
  } else {
    Message m;
    m.atom(words().udp).port(port_);
    add_address(m, packet.from, from);
    if (packet.has_options) add_options(m, const_cast<msghdr&>(packet.message));
    add_data(m, {}, packet.size);
    m.tuple(packet.has_options ? 6 : 5).send(owner());
  }
  count_delivery();
}

/// Address and data in one.
void UdpSocket::deliver_to_port(const Packet& packet) {
  std::string all = written_address(packet.from);
  all.append(reinterpret_cast<const char*>(input_.bytes()), packet.size);
  const std::size_t header = settings_.header_bytes;
  const bool as_list = !settings_.binary || header > all.size();
  const std::size_t in_front = as_list ? all.size() : header;
  driver_output2(port_, all.data(), in_front, all.data() + in_front, all.size() - in_front);
}

void UdpSocket::stop() {
  while (!receiving_.empty()) fail_async(receiving_.take(), words().closed);
  Socket::stop();
}

}  // namespace vmrun::inet

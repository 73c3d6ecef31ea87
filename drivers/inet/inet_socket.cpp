// SPDX-License-Identifier: Apache-2.0
#include "drivers/inet/inet_socket.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "drivers/inet/interfaces.hpp"
#include "vm/base/network_namespace.hpp"
#include "vm/base/release.hpp"
#include "vm/port/driver_api.hpp"
#include "vm/port/select.hpp"

namespace vmrun::inet {
namespace {

constexpr std::string_view kBadState = "exbadport";

ErlDrvEvent event_of(int fd) { return reinterpret_cast<ErlDrvEvent>(static_cast<std::intptr_t>(fd)); }

int system_type(SocketType type) { return type == kStream ? SOCK_STREAM : SOCK_DGRAM; }

}  // namespace

void Socket::attach(ErlDrvPort port) { port_ = port; }

// ---- Requests -----------------------------------------------------------------------------------

ErlDrvSSizeT Socket::control(unsigned command, const char* bytes, std::size_t size, char** room,
                             std::size_t room_size) {
  Reader in(bytes, size);
  const Answer answer = handle(command - kRequestBase, in);
  const std::string_view all = answer.all();
  if (all.size() > room_size) *room = static_cast<char*>(driver_alloc(all.size()));
  if (!*room) return -1;
  std::memcpy(*room, all.data(), all.size());
  return static_cast<ErlDrvSSizeT>(all.size());
}

Answer Socket::handle(unsigned number, Reader& in) {
  switch (number) {
    case kOpen: return open(in);
    case kOpenDescriptor: return open_descriptor(in);
    case kSetOptions: return set_options(in);
    case kGetOptions: return get_options(in);
    case kGetStatistics: return get_statistics(in);
    case kGetStatus: return get_status();
    case kGetType: return get_type();
    case kGetHostName: return host_name();
    case kServiceByName: return service_by_name(in);
    case kServiceByPort: return service_by_port(in);
    case kSetSockName: return set_name(sock_name_, in);
    case kSetPeerName: return set_name(peer_name_, in);
    case kSubscribe: return subscribe(in);
    case kInterfaceAddresses: return interface_addresses();
  }
  if (std::optional<Answer> answer = request(number, in)) return *std::move(answer);
  if (!is_open())
    return number == kPeerName || number == kPeerNames ? Answer::failed(ENOTCONN) : Answer::failed(kBadState);
  switch (number) {
    case kPeerName:
    case kPeerNames: return name(true);  // only SCTP has several names
    case kSockName:
    case kSockNames: return name(false);
    case kBind: return bind(in);
    case kGetDescriptor: return Answer().u32(static_cast<std::uint32_t>(fd_));
    case kIgnoreDescriptor: return ignore_descriptor(in);
    case kInterfaces: return interfaces(fd_);
    case kGetInterface: return get_interface(fd_, in);
    case kSetInterface: return set_interface(fd_, in);
  }
  return Answer::failed(kBadState);
}

Answer Socket::open(Reader& in) {
  const int family = system_family(in.u8());
  const std::uint8_t type = in.u8(), protocol = in.left() ? in.u8() : std::uint8_t{kDefaultProtocol};
  if (!in.done() || family < 0 || type != type_ || protocol > kMultipathTcp) return Answer::failed(EINVAL);
  if (is_open()) return Answer::failed(kBadState);
  const int flags = system_type(type_) | SOCK_NONBLOCK | SOCK_CLOEXEC;
  const int fd =
      socket_in(namespace_.value_or(""), family, flags, protocol == kMultipathTcp ? IPPROTO_MPTCP : 0);
  if (fd < 0) return Answer::failed(-fd);
  fd_ = fd;
  system_family_ = family;
  status_ = kStatusOpen;
  return {};
}

/// A descriptor that comes from outside is returned there, not closed here.
Answer Socket::open_descriptor(Reader& in) {
  const int family = system_family(in.u8());
  const std::uint8_t type = in.u8();
  const int fd = in.i32();
  if (in.left()) in.u32();  // whether it is bound, which has no effect
  if (!in.done() || family < 0 || type != type_) return Answer::failed(EINVAL);
  if (is_open()) return Answer::failed(kBadState);
  int real = 0;
  socklen_t size = sizeof real;
  if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &real, &size) != 0) return Answer::failed(errno);
  if (real != system_type(type_)) return Answer::failed(EINVAL);
  Address a;
  if (getsockname(fd, &a.any, &a.size) != 0) return Answer::failed(errno);
  if (a.any.sa_family != family) return Answer::failed(EINVAL);
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  fd_ = fd;
  prebound_ = true;
  system_family_ = family;
  status_ = kStatusOpen;
  a.size = sizeof a.storage;
  if (getpeername(fd, &a.any, &a.size) == 0) set_status(kStatusConnected);
  adopted();
  return {};
}

Answer Socket::bind(Reader& in) {
  Address a;
  if (const int error = read_address(in, system_family_, &a)) return Answer::failed(error);
  if (::bind(fd_, &a.any, a.size) != 0) return Answer::failed(errno);
  a.size = sizeof a.storage;
  getsockname(fd_, &a.any, &a.size);
  const bool has_port = system_family_ == AF_INET || system_family_ == AF_INET6;  // at the same place
  return Answer().u16(has_port ? ntohs(a.in.sin_port) : std::uint16_t{0});
}

Answer Socket::name(bool peer) const {
  const std::optional<Address>& said = peer ? peer_name_ : sock_name_;
  if (peer && !is_connected()) return Answer::failed(ENOTCONN);
  Address a;
  if (said) a = *said;
  else if ((peer ? getpeername : getsockname)(fd_, &a.any, &a.size) != 0) return Answer::failed(errno);
  Answer out;
  write_address(out, a);
  return out;
}

Answer Socket::set_name(std::optional<Address>& name, Reader& in) {
  if (in.left() == 0) {
    name.reset();
    return {};
  }
  Address a;
  if (const int error = read_address(in, system_family_, &a)) return Answer::failed(error);
  name = a;
  return {};
}

Answer Socket::ignore_descriptor(Reader& in) {
  if (!is_connected()) return Answer::failed(ENOTCONN);
  if (type_ != kStream) return Answer::failed(EINVAL);
  ignored_ = in.u8() != 0;
  if (!in.done()) return Answer::failed(EINVAL);
  select(0, true);
  return {};
}

// ---- Information --------------------------------------------------------------------------------

Answer Socket::get_statistics(Reader& in) const {
  Answer out;
  while (in.left()) {
    const std::uint8_t item = in.u8();
    out.u8(item);
    switch (item) {
      case kReceivedCount: out.u32(received_.packets); break;
      case kReceivedMax: out.u32(received_.largest); break;
      case kReceivedAverage: out.u32(received_.average()); break;
      case kReceivedDeviation: out.u32(received_.deviation()); break;
      case kSentCount: out.u32(sent_.packets); break;
      case kSentMax: out.u32(sent_.largest); break;
      case kSentAverage: out.u32(sent_.average()); break;
      case kSentPending: out.u32(static_cast<std::uint32_t>(unsent())); break;
      case kReceivedBytes: out.u64(received_.total_bytes); break;
      case kSentBytes: out.u64(sent_.total_bytes); break;
      default: return Answer::failed(EINVAL);
    }
  }
  return out;
}

Answer Socket::get_status() const { return Answer().u32(status_ | more_status()); }

Answer Socket::get_type() const {
  return Answer().u32(is_open() ? family_of(system_family_) : kUnspecified).u32(type_);
}

/// The caller gets a message when all output has gone out. The answer is the number of queued
/// bytes; with 0 no message follows. Closing begins with this request.
Answer Socket::subscribe(Reader& in) {
  Answer out;
  while (in.left()) {
    if (in.u8() != kEmptyOutputQueue) return Answer::failed(EINVAL);
    is_about_to_close();
    const std::size_t queued = unsent();
    if (queued) subscriber_ = driver_caller(port_);
    out.u8(kEmptyOutputQueue).u32(static_cast<std::uint32_t>(queued));
  }
  return out;
}

// ---- The descriptor -----------------------------------------------------------------------------

void Socket::select(int mode, bool on) {
  wanted_ = on ? wanted_ | mode : wanted_ & ~mode;
  const int now = ignored_ || !is_open() ? 0 : wanted_;
  const int more = now & ~selected_, less = selected_ & ~now;
  selected_ = now;
  if (more) select_by_edges(port_of(port_), event_of(fd_), more, true);
  if (less) select_by_edges(port_of(port_), event_of(fd_), less, false);
}

void Socket::note_ready(int mode, bool ready) {
  if (is_open()) vmrun::note_ready(event_of(fd_), mode, ready);
}

void Socket::update_timer() {
  const Deadline deadline = earliest_deadline();
  if (deadline == timer_) return;
  timer_ = deadline;
  if (deadline == kNever) {
    driver_cancel_timer(port_);
  } else {
    const Deadline left = deadline - now_ms();
    driver_set_timer(port_, left > 0 ? static_cast<unsigned long>(left) : 0);
  }
}

void Socket::timer_has_fired() { timer_ = kNever; }

int Socket::linger_seconds() const {
  linger l{};
  socklen_t size = sizeof l;
  if (!settings_.may_linger || getsockopt(fd_, SOL_SOCKET, SO_LINGER, &l, &size) != 0) return 0;
  return l.l_onoff ? l.l_linger : 0;
}

void Socket::close_descriptor() {
  if (!is_open()) return;
  if (linger_seconds() > 0 && !prebound_) {
    const linger off{};  // close(2) would block this scheduler
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &off, sizeof off);
  }
  const int use = prebound_ ? ERL_DRV_USE_NO_CALLBACK : ERL_DRV_USE;
  driver_select(port_, event_of(fd_), ERL_DRV_READ | ERL_DRV_WRITE | use, 0);
  fd_ = -1;
  status_ = 0;
  selected_ = wanted_ = 0;
  output_queue_is_empty();  // it stays empty
}

void Socket::stop() {
  subscriber_ = 0;  // it closes the port, or no longer waits
  close_descriptor();
  driver_cancel_timer(port_);
}

// ---- Messages -----------------------------------------------------------------------------------

Message Socket::async_message(const Operation& op) {
  Message m;
  m.atom(words().inet_async).port(port_).number(op.id);
  return m;
}

void Socket::answer_async(const Operation& op) {
  Message m = async_message(op);
  m.atom(words().ok);
  finish_async(m, op);
}

void Socket::fail_async(const Operation& op, ErlDrvTermData reason) {
  Message m = async_message(op);
  m.atom(words().error).atom(reason).tuple(2);
  finish_async(m, op);
}

bool Socket::take_sender(ErlIOVec& data, Sender* sender) {
  sender->process = driver_caller(port_);
  if (sender->process == driver_mk_term_nil() || !release_has(Trait::kRepliesToReferences)) return true;
  constexpr std::size_t kSizeBytes = 2, kUsual = 64;
  char front[kUsual];
  const std::size_t have = driver_vec_to_buf(&data, front, sizeof front);
  const std::size_t size = have < kSizeBytes ? 0 : Reader(front, kSizeBytes).u16();
  std::size_t skip = kSizeBytes + size;
  if (have < kSizeBytes || data.size < skip) {
    driver_failure_posix(port_, EINVAL);
    return false;
  }
  std::string all(front, std::min(have, skip));
  if (have < skip) {
    all.resize(skip);
    driver_vec_to_buf(&data, all.data(), skip);
  }
  sender->reference = all.substr(kSizeBytes);
  data.size -= skip;
  for (int i = 0; i < data.vsize && skip; ++i) {
    SysIOVec& piece = data.iov[i];
    const std::size_t part = std::min(skip, piece.iov_len);
    piece.iov_base = static_cast<char*>(piece.iov_base) + part;
    piece.iov_len -= part;
    skip -= part;
  }
  return true;
}

namespace {

void send_reply(Message& m, const Sender& to) {
  const bool refers = !to.reference.empty();
  if (refers) m.external(to.reference);
  m.tuple(refers ? 4 : 3).send(to.process);
}

}  // namespace

void Socket::reply(const Sender& to) {
  if (to.process == driver_mk_term_nil()) return;  // the sender is the machine
  Message m;
  m.atom(words().inet_reply).port(port_).atom(words().ok);
  send_reply(m, to);
}

void Socket::reply_error(const Sender& to, ErlDrvTermData reason) {
  Message m;
  m.atom(words().inet_reply).port(port_).atom(words().error).atom(reason).tuple(2);
  send_reply(m, to);
}

void Socket::tell_owner(ErlDrvTermData tag) { Message().atom(tag).port(port_).tuple(2).send(owner()); }

void Socket::tell_owner(ErlDrvTermData tag, ErlDrvTermData what) {
  Message().atom(tag).port(port_).atom(what).tuple(3).send(owner());
}

void Socket::count_delivery() {
  if (settings_.active == Active::kOnce) {
    settings_.active = Active::kPassive;
  } else if (settings_.active == Active::kCounted && --settings_.active_count <= 0) {
    settings_.active = Active::kPassive;
    tell_owner(passive_word());
  }
}

void Socket::output_queue_is_empty() {
  if (!subscriber_) return;
  Message().atom(words().empty_out_q).port(port_).tuple(2).send(std::exchange(subscriber_, 0));
}

}  // namespace vmrun::inet

// SPDX-License-Identifier: Apache-2.0
// setopts and getopts. A request is a sequence of options: number, then value. The value has four
// bytes, except for the options that say otherwise here.

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <limits>

#include "drivers/inet/inet_socket.hpp"
#include "drivers/inet/packet_options.hpp"

namespace vmrun::inet {
namespace {

// ---- The system's options -----------------------------------------------------------------------

struct SystemOption {
  Option option;
  int level, name;
  int name6 = 0, level6 = 0;   // for IPv6, if different
  bool tells_failure = false;  // else a socket without this option ignores it silently
};

constexpr SystemOption kSystemOptions[] = {
    {kReuseAddress, SOL_SOCKET, SO_REUSEADDR},
    {kReusePort, SOL_SOCKET, SO_REUSEPORT},
    {kReusePortBalanced, SOL_SOCKET, SO_REUSEPORT},
    {kKeepAlive, SOL_SOCKET, SO_KEEPALIVE},
    {kDontRoute, SOL_SOCKET, SO_DONTROUTE},
    {kBroadcast, SOL_SOCKET, SO_BROADCAST},
    {kOutOfBandInline, SOL_SOCKET, SO_OOBINLINE},
    {kSendBuffer, SOL_SOCKET, SO_SNDBUF},
    {kReceiveBuffer, SOL_SOCKET, SO_RCVBUF},
    {.option = kPriority, .level = SOL_SOCKET, .name = SO_PRIORITY, .tells_failure = true},
    {.option = kTypeOfService, .level = IPPROTO_IP, .name = IP_TOS, .tells_failure = true},
    {.option = kTrafficClass, .level = IPPROTO_IPV6, .name = IPV6_TCLASS, .tells_failure = true},
    {.option = kReceiveTypeOfService, .level = IPPROTO_IP, .name = IP_RECVTOS, .tells_failure = true},
    {.option = kReceiveTrafficClass, .level = IPPROTO_IPV6, .name = IPV6_RECVTCLASS, .tells_failure = true},
    {.option = kTtl, .level = IPPROTO_IP, .name = IP_TTL, .tells_failure = true},
    {.option = kReceiveTtl, .level = IPPROTO_IP, .name = IP_RECVTTL, .tells_failure = true},
    {kNoDelay, IPPROTO_TCP, TCP_NODELAY},
    {kNoPush, IPPROTO_TCP, TCP_CORK},
    {kKeepCount, IPPROTO_TCP, TCP_KEEPCNT},
    {kKeepIdle, IPPROTO_TCP, TCP_KEEPIDLE},
    {kKeepInterval, IPPROTO_TCP, TCP_KEEPINTVL},
    {kUserTimeout, IPPROTO_TCP, TCP_USER_TIMEOUT},
    {.option = kMulticastTtl,
     .level = IPPROTO_IP,
     .name = IP_MULTICAST_TTL,
     .name6 = IPV6_MULTICAST_HOPS,
     .level6 = IPPROTO_IPV6},
    {.option = kMulticastLoop,
     .level = IPPROTO_IP,
     .name = IP_MULTICAST_LOOP,
     .name6 = IPV6_MULTICAST_LOOP,
     .level6 = IPPROTO_IPV6},
    {.option = kIpv6Only, .level = IPPROTO_IPV6, .name = IPV6_V6ONLY, .tells_failure = true},
};

struct Place {
  int level, name;
};
Place place_of(const SystemOption& o, int family) {
  return family == AF_INET6 && o.level6 ? Place{o.level6, o.name6} : Place{o.level, o.name};
}

const SystemOption* find_system_option(Option option) {
  const auto* row = std::ranges::find(kSystemOptions, option, &SystemOption::option);
  return row != std::end(kSystemOptions) ? row : nullptr;
}

template <class T>
int set(int fd, int level, int name, const T& value) {
  return setsockopt(fd, level, name, &value, sizeof value) == 0 ? 0 : errno;
}

template <class T>
bool get(int fd, int level, int name, T* value) {
  socklen_t size = sizeof *value;
  return getsockopt(fd, level, name, value, &size) == 0;
}

/// The system derives a priority from the type of service, so the priority that was set is
/// restored.
int set_beside_priority(int fd, Place place, std::int32_t value) {
  int priority = 0;
  const bool known = get(fd, SOL_SOCKET, SO_PRIORITY, &priority);
  const int error = set(fd, place.level, place.name, value);
  if (!error && known) set(fd, SOL_SOCKET, SO_PRIORITY, priority);
  return error;
}

// ---- Multicast ----------------------------------------------------------------------------------

/// For IPv4 an address, for IPv6 an interface's number.
int set_multicast_interface(int fd, int family, std::uint32_t value) {
  if (family == AF_INET) set(fd, IPPROTO_IP, IP_MULTICAST_IF, in_addr{htonl(value)});
  else if (family == AF_INET6) set(fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, value);
  else return EINVAL;
  return 0;
}

bool get_multicast_interface(int fd, int family, Answer& out) {
  if (family == AF_INET) {
    in_addr address;
    if (get(fd, IPPROTO_IP, IP_MULTICAST_IF, &address)) out.u32(ntohl(address.s_addr)).u32(kInet);
  } else if (family == AF_INET6) {
    std::uint32_t number;
    if (get(fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, &number)) out.u32(number).u32(kInet6);
  } else {
    return false;
  }
  return true;
}

/// family, interface's number, group, and for IPv4 an address of the interface.
int change_membership(int fd, int own_family, bool add, Reader& in) {
  const std::uint32_t family = in.u32();
  const std::int32_t interface = in.i32();
  if (family != family_of(own_family)) return EINVAL;
  if (family == kInet) {
    ip_mreqn request{};
    request.imr_multiaddr.s_addr = htonl(in.u32());
    request.imr_address.s_addr = htonl(in.u32());
    request.imr_ifindex = interface;
    if (!in.good()) return EINVAL;
    set(fd, IPPROTO_IP, add ? IP_ADD_MEMBERSHIP : IP_DROP_MEMBERSHIP, request);
    return 0;
  }
  if (family != kInet6) return EINVAL;
  ipv6_mreq request{};
  const std::string_view group = in.bytes(sizeof request.ipv6mr_multiaddr);
  if (!in.good()) return EINVAL;
  std::memcpy(&request.ipv6mr_multiaddr, group.data(), group.size());
  request.ipv6mr_interface = static_cast<unsigned>(interface);
  set(fd, IPPROTO_IPV6, add ? IPV6_JOIN_GROUP : IPV6_LEAVE_GROUP, request);
  return 0;
}

// ---- Options with values of other forms ---------------------------------------------------------

std::string_view sized_bytes(Reader& in) { return in.bytes(in.u32()); }

constexpr std::uint32_t kLargestRawOption = 0xFFFF;
constexpr std::uint32_t kLargestDatagram = 65536;  // more room has no use

int set_raw(int fd, Reader& in) {
  const int level = in.i32(), name = in.i32();
  const std::string_view value = sized_bytes(in);
  if (!in.good()) return EINVAL;
  setsockopt(fd, level, name, value.data(), static_cast<socklen_t>(value.size()));
  return 0;
}

/// level | name | 1 | bytes given in advance, or 0 | number of bytes to ask for
bool get_raw(int fd, Reader& in, Answer& out) {
  const int level = in.i32(), name = in.i32();
  std::string value;
  if (in.u8()) {
    value = sized_bytes(in);
  } else {
    const std::uint32_t most = in.u32();
    if (most > kLargestRawOption) return false;
    value.resize(most);
  }
  if (!in.good()) return false;
  auto size = static_cast<socklen_t>(value.size());
  const std::size_t before = out.size() - 1;
  if (getsockopt(fd, level, name, value.data(), &size) != 0) {
    out.truncate(before);
    return true;
  }
  out.u32(static_cast<std::uint32_t>(level)).u32(static_cast<std::uint32_t>(name)).u32(size);
  out.bytes(std::string_view(value).substr(0, size));
  return true;
}

int set_device(int fd, Reader& in) {
  const std::string_view device = sized_bytes(in);
  if (!in.good() || device.size() >= IFNAMSIZ) return EINVAL;
  const std::string name(device);
  return setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, name.data(), static_cast<socklen_t>(name.size())) == 0
             ? 0
             : errno;
}

bool get_device(int fd, Answer& out) {
  char name[IFNAMSIZ + 1] = {};
  socklen_t size = IFNAMSIZ;
  if (getsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, name, &size) != 0) return false;
  const std::string_view text(name);
  out.u32(static_cast<std::uint32_t>(text.size())).bytes(text);
  return true;
}

}  // namespace

// ---- Setting ------------------------------------------------------------------------------------

/// Returns an errno; 0 also for options that this kind of socket does not have.
int Socket::set_own_option(Option option, std::int32_t value, Reader& in) {
  Settings& s = settings_;
  const auto number = static_cast<std::uint32_t>(value);
  switch (option) {
    case kBuffer:
      s.buffer_bytes = static_cast<std::uint32_t>(std::max(value, 1));
      s.buffer_given = true;
      break;
    case kHeader: s.header_bytes = number; break;
    case kActive: return set_active(value, in);
    case kPacket:
      if (number > 14) return EINVAL;
      s.packet_type = number;
      break;
    case kMode: s.binary = value != 0; break;
    case kDeliver: s.to_port = value == 0; break;
    case kExitOnClose: s.exit_on_close = value != 0; break;
    case kHighWatermark:
      s.high_watermark = static_cast<std::uint32_t>(std::max(value, 0));
      s.low_watermark = std::min(s.low_watermark, s.high_watermark);
      break;
    case kLowWatermark:
      s.low_watermark = static_cast<std::uint32_t>(std::max(value, 0));
      s.high_watermark = std::max(s.low_watermark, s.high_watermark);
      break;
    case kSendTimeout: s.send_timeout_ms = number; break;
    case kSendTimeoutClose: s.send_timeout_close = value != 0; break;
    case kDelaySend: s.delay_send = value != 0; break;
    case kPacketSize: s.packet_size = number; break;
    case kReadPackets:
      if (value <= 0) return type_ == kStream ? 0 : EINVAL;
      s.read_packets = number;
      break;
    case kShowReset: s.show_reset = value != 0; break;
    case kReadAhead: s.reads_ahead = value != 0; break;
    case kLineDelimiter: s.line_delimiter = static_cast<std::uint8_t>(value); break;
    case kDebug: s.debug = value != 0; break;
    case kHighMessageQueueWatermark:
    case kLowMessageQueueWatermark: return set_message_queue_limit(option, value);
    default: return EINVAL;
  }
  return 0;
}

int Socket::set_message_queue_limit(Option option, std::int32_t value) {
  ErlDrvSizeT low = ERL_DRV_BUSY_MSGQ_READ_ONLY, high = ERL_DRV_BUSY_MSGQ_READ_ONLY;
  if (value == 0) return EINVAL;
  const auto limit = static_cast<ErlDrvSizeT>(value < 0 ? std::numeric_limits<std::int32_t>::max() : value);
  (option == kHighMessageQueueWatermark ? high : low) = limit;
  erl_drv_busy_msgq_limits(port_, &low, &high);
  return 0;
}

/// {active, N} adds to the rest. When nothing is left, the socket becomes passive, and its owner
/// gets a message.
int Socket::set_active(std::int32_t value, Reader& in) {
  if (value < 0 || value > static_cast<int>(Active::kCounted)) return EINVAL;
  const auto active = static_cast<Active>(value);
  if (active == Active::kCounted) {
    const int more = static_cast<std::int16_t>(in.u16());
    const int sum = (settings_.active == Active::kCounted ? settings_.active_count : 0) + more;
    if (!in.good() || sum > std::numeric_limits<std::int16_t>::max()) return EINVAL;
    if (sum <= 0) {
      settings_.active = Active::kPassive;
      tell_owner(passive_word());
      return 0;
    }
    settings_.active_count = static_cast<std::int16_t>(sum);
  }
  settings_.active = active;
  return 0;
}

int Socket::set_option(Reader& in) {
  const auto option = static_cast<Option>(in.u8());
  switch (option) {
    case kRaw: settings_.may_linger = true; return set_raw(fd_, in);
    case kBindToDevice: return set_device(fd_, in);
    case kAddMembership:
    case kDropMembership: return change_membership(fd_, system_family_, option == kAddMembership, in);
    case kNetworkNamespace: namespace_ = sized_bytes(in); return in.good() ? 0 : EINVAL;
    case kExclusiveAddressUse: in.i32(); return in.good() ? 0 : EINVAL;
    case kLinger: {
      const int on = in.i32(), seconds = in.i32();
      settings_.may_linger = true;
      if (in.good()) set(fd_, SOL_SOCKET, SO_LINGER, linger{on, seconds});
      return in.good() ? 0 : EINVAL;
    }
    default: break;
  }
  const std::int32_t value = in.i32();
  if (!in.good()) return EINVAL;
  if (option == kMulticastInterface)
    return set_multicast_interface(fd_, system_family_, static_cast<std::uint32_t>(value));
  const SystemOption* row = find_system_option(option);
  if (!row) return set_own_option(option, value, in);
  const Place place = place_of(*row, system_family_);
  const int error = option == kTypeOfService || option == kTrafficClass
                        ? set_beside_priority(fd_, place, value)
                        : set(fd_, place.level, place.name, value);
  if (option == kReceiveBuffer && value > 0 && !settings_.buffer_given) {
    const auto wanted = static_cast<std::uint32_t>(value);
    const std::uint32_t useful = type_ == kDatagram ? std::min(wanted, kLargestDatagram) : wanted;
    settings_.buffer_bytes = std::max(settings_.buffer_bytes, useful);
  }
  const bool received =
      option == kReceiveTypeOfService || option == kReceiveTrafficClass || option == kReceiveTtl;
  if (!error && received) note_packet_option(option, value != 0);
  return row->tells_failure ? error : 0;
}

/// Options before one that fails stay set, as in OTP, and the reason is not reported.
Answer Socket::set_options(Reader& in) {
  const Settings before = settings_;
  while (in.left())
    if (set_option(in)) return Answer::failed(EINVAL);
  static_cast<void>(options_changed(before));
  return {};
}

// ---- Getting ------------------------------------------------------------------------------------

bool Socket::get_own_option(Option option, Answer& out) const {
  const Settings& s = settings_;
  ErlDrvSizeT low = ERL_DRV_BUSY_MSGQ_READ_ONLY, high = ERL_DRV_BUSY_MSGQ_READ_ONLY;
  switch (option) {
    case kBuffer: out.u32(s.buffer_bytes); break;
    case kHeader: out.u32(s.header_bytes); break;
    case kActive:
      out.u32(static_cast<std::uint32_t>(s.active));
      if (s.active == Active::kCounted) out.u16(static_cast<std::uint16_t>(s.active_count));
      break;
    case kPacket: out.u32(s.packet_type); break;
    case kMode: out.u32(s.binary); break;
    case kDeliver: out.u32(!s.to_port); break;
    case kExitOnClose: out.u32(s.exit_on_close); break;
    case kPacketSize: out.u32(s.packet_size); break;
    case kDebug: out.u32(s.debug); break;
    case kHighMessageQueueWatermark:
    case kLowMessageQueueWatermark:
      erl_drv_busy_msgq_limits(port_, &low, &high);
      out.u32(static_cast<std::uint32_t>(option == kHighMessageQueueWatermark ? high : low));
      break;
    default: return false;
  }
  return true;
}

/// Options that only one of the two drivers has; the other one leaves them out of the answer.
bool Socket::get_kind_option(Option option, Answer& out) const {
  const Settings& s = settings_;
  const std::size_t before = out.size() - 1;
  const bool tcp = type_ == kStream;
  switch (option) {
    case kHighWatermark: out.u32(s.high_watermark); break;
    case kLowWatermark: out.u32(s.low_watermark); break;
    case kSendTimeout: out.u32(s.send_timeout_ms); break;
    case kSendTimeoutClose: out.u32(s.send_timeout_close); break;
    case kDelaySend: out.u32(s.delay_send); break;
    case kShowReset: out.u32(s.show_reset); break;
    case kReadAhead: out.u32(s.reads_ahead); break;
    case kReadPackets:
      out.u32(s.read_packets);
      if (tcp) out.truncate(before);
      return true;
    default: return false;
  }
  if (!tcp) out.truncate(before);
  return true;
}

/// Appends the value behind the number, which is already there. If the socket does not have the
/// option, its number is removed. Returns false for an unknown option.
bool Socket::get_option(Option option, Reader& in, Answer& out) const {
  const std::size_t before = out.size() - 1;
  switch (option) {
    case kRaw: return get_raw(fd_, in, out);
    case kBindToDevice: return get_device(fd_, out);
    case kMulticastInterface: return get_multicast_interface(fd_, system_family_, out);
    case kPacketOptions: return get_packet_options(out);
    case kExclusiveAddressUse: out.u32(0); return true;
    case kNetworkNamespace:
      if (namespace_) out.u32(static_cast<std::uint32_t>(namespace_->size())).bytes(*namespace_);
      else out.truncate(before);
      return true;
    case kLinger: {
      linger l;
      if (!get(fd_, SOL_SOCKET, SO_LINGER, &l)) out.truncate(before);
      else out.u32(l.l_onoff != 0).u32(static_cast<std::uint32_t>(l.l_linger));
      return true;
    }
    default: break;
  }
  const SystemOption* row = find_system_option(option);
  if (!row) return get_own_option(option, out) || get_kind_option(option, out);
  const Place place = place_of(*row, system_family_);
  std::uint32_t value = 0;
  if (get(fd_, place.level, place.name, &value)) out.u32(value);
  else out.truncate(before);
  return true;
}

Answer Socket::get_options(Reader& in) const {
  Answer out;
  while (in.left()) {
    const std::uint8_t option = in.u8();
    out.u8(option);
    if (!get_option(static_cast<Option>(option), in, out)) return Answer::failed(EINVAL);
  }
  return out;
}

void Socket::note_packet_option(Option option, bool wanted) {
  const std::uint64_t bit = std::uint64_t{1} << option;
  packet_options_wanted_ = wanted ? packet_options_wanted_ | bit : packet_options_wanted_ & ~bit;
}

/// Appends the ancillary data of the connection's last segment (IP_PKTOPTIONS): size, then options
/// as in getopts.
bool Socket::get_packet_options(Answer& out) const {
  const bool v6 = system_family_ == AF_INET6;
  if (!v6 && system_family_ != AF_INET) return false;
  char control[256];
  socklen_t size = sizeof control;
  const std::size_t before = out.size() - 1;
  if (type_ != kStream || getsockopt(fd_, v6 ? IPPROTO_IPV6 : IPPROTO_IP,
                                     v6 ? IPV6_2292PKTOPTIONS : IP_PKTOPTIONS, control, &size) != 0) {
    out.truncate(before);
    return true;
  }
  const std::size_t at = out.size();
  out.u32(0);
  msghdr m{};
  m.msg_control = control;
  m.msg_controllen = size;
  for_each_packet_option(m, [&](Option option, std::uint32_t value) { out.u8(option).u32(value); });
  out.put_u32(at, static_cast<std::uint32_t>(out.size() - at - 4));
  return true;
}

}  // namespace vmrun::inet

// SPDX-License-Identifier: Apache-2.0
#include "drivers/inet/address.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace vmrun::inet {
namespace {

constexpr std::size_t kPathOffset = offsetof(sockaddr_un, sun_path);

void set_ip4(Address& to, in_port_t port, in_addr_t ip) {
  to.in.sin_family = AF_INET;
  to.in.sin_port = port;
  to.in.sin_addr.s_addr = ip;
  to.size = sizeof to.in;
}

void set_ip6(Address& to, in_port_t port, const in6_addr& ip) {
  to.in6.sin6_family = AF_INET6;
  to.in6.sin6_port = port;
  to.in6.sin6_addr = ip;
  to.size = sizeof to.in6;
}

int read_local(Reader& in, Address* to) {
  const std::string_view path = in.bytes(in.u8());
  if (!in.good() || path.size() > sizeof to->local.sun_path) return EINVAL;
  to->local.sun_family = AF_UNIX;
  std::copy(path.begin(), path.end(), to->local.sun_path);
  to->size = static_cast<socklen_t>(kPathOffset + path.size());
  return 0;
}

/// Makes an address of the socket's family.
int set_special(int family, in_port_t port, bool loopback, Address* to) {
  if (family == AF_INET) set_ip4(*to, port, htonl(loopback ? INADDR_LOOPBACK : INADDR_ANY));
  else if (family == AF_INET6) set_ip6(*to, port, loopback ? in6addr_loopback : in6addr_any);
  else return EINVAL;
  return 0;
}

std::string_view view(const void* bytes, std::size_t size) { return {static_cast<const char*>(bytes), size}; }

/// Paths of the file system may or may not have a zero at their end.
std::string_view local_path(const Address& a) {
  if (a.size <= kPathOffset) return {};
  const std::string_view path(a.local.sun_path, std::min(a.size - kPathOffset, sizeof a.local.sun_path));
  return path[0] == 0 ? path : path.substr(0, path.find('\0'));
}

}  // namespace

int system_family(std::uint8_t family) {
  switch (family) {
    case kInet: return AF_INET;
    case kInet6: return AF_INET6;
    case kLocal: return AF_UNIX;
  }
  return -1;
}

Family family_of(int system_family) {
  switch (system_family) {
    case AF_INET: return kInet;
    case AF_INET6: return kInet6;
    case AF_UNIX: return kLocal;
    case AF_UNSPEC: return kUnspecified;
  }
  return kUndefined;
}

int read_address(Reader& in, int system_family, Address* to) {
  const std::uint8_t family = in.u8();
  if (!in.good()) return EINVAL;
  if (family == kLocal) return system_family == AF_UNIX ? read_local(in, to) : EAFNOSUPPORT;
  const in_port_t port = htons(in.u16());
  if (family == kAny || family == kLoopback)
    return in.good() ? set_special(system_family, port, family == kLoopback, to) : EINVAL;
  if (family != kInet && family != kInet6) return EINVAL;
  if (inet::system_family(family) != system_family) return EAFNOSUPPORT;
  if (family == kInet) {
    in_addr_t ip = 0;
    const std::string_view bytes = in.bytes(sizeof ip);
    if (!in.good()) return EINVAL;
    std::memcpy(&ip, bytes.data(), sizeof ip);
    set_ip4(*to, port, ip);
  } else {
    in6_addr ip;
    const std::string_view bytes = in.bytes(sizeof ip);
    if (!in.good()) return EINVAL;
    std::memcpy(&ip, bytes.data(), sizeof ip);
    set_ip6(*to, port, ip);
    to->in6.sin6_flowinfo = in.u32();
    to->in6.sin6_scope_id = in.u32();
  }
  return in.good() ? 0 : EINVAL;
}

bool write_ip(Answer& out, const sockaddr& address) {
  if (address.sa_family == AF_INET)
    out.bytes(view(&reinterpret_cast<const sockaddr_in&>(address).sin_addr, sizeof(in_addr)));
  else if (address.sa_family == AF_INET6)
    out.bytes(view(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr, sizeof(in6_addr)));
  else return false;
  return true;
}

void write_address(Answer& out, const Address& a) {
  const Family family = a.size < sizeof a.any.sa_family ? kUnspecified : family_of(a.any.sa_family);
  out.u8(family);
  switch (family) {
    case kInet: out.u16(ntohs(a.in.sin_port)); break;
    case kInet6: out.u16(ntohs(a.in6.sin6_port)); break;
    case kLocal: {
      const std::string_view path = local_path(a);
      out.u8(static_cast<std::uint8_t>(path.size())).bytes(path);
      return;
    }
    default: return;
  }
  static_cast<void>(write_ip(out, a.any));
}

}  // namespace vmrun::inet

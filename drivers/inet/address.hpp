#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <string>

#include "drivers/inet/bytes.hpp"

/// Addresses as requests and messages have them, and as the system does.
///
///   inet      1 | port, 2 bytes | 4 bytes
///   inet6     2 | port, 2 bytes | 16 bytes, and in requests flow and scope, 4 bytes each
///   any       3 | port, 2 bytes                  of the socket's own family
///   loopback  4 | port, 2 bytes                  likewise
///   local     5 | length | path                  a first byte 0: Linux's abstract names
///   unspecified 0, undefined 6                   nothing more
namespace vmrun::inet {

struct Address {
  union {
    sockaddr any;
    sockaddr_in in;
    sockaddr_in6 in6;
    sockaddr_un local;
    sockaddr_storage storage;
  };
  socklen_t size = sizeof storage;
  Address() { storage = {}; }
};

/// AF_INET and so on of a family's number; -1: none that sockets can have.
int system_family(std::uint8_t family);
Family family_of(int system_family);

/// The next address of a request. An errno: einval for what is none, eafnosupport for one of
/// another family than the socket's.
[[nodiscard]] int read_address(Reader& in, int system_family, Address* to);
/// As above, without scope.
void write_address(Answer& out, const Address& address);
/// The bytes of IPv4 and IPv6 addresses alone, which a family's number precedes.
[[nodiscard]] bool write_ip(Answer& out, const sockaddr& address);

}  // namespace vmrun::inet

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <string>

#include "drivers/inet/bytes.hpp"

/// Addresses in requests and messages, and as the system has them.
///
///   inet      1 | port, 2 bytes | 4 bytes
///   inet6     2 | port, 2 bytes | 16 bytes, and in requests flow and scope, 4 bytes each
///   any       3 | port, 2 bytes                  of the socket's own family
///   loopback  4 | port, 2 bytes                  likewise
///   local     5 | length | path                  a first byte 0: Linux's abstract names
///   unspecified 0, undefined 6                   no more bytes
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

/// Returns AF_INET etc. for a family's number; -1 for a family that sockets cannot have.
int system_family(std::uint8_t family);
Family family_of(int system_family);

/// Reads the next address of a request. Returns an errno: EINVAL for bytes that are not an address,
/// EAFNOSUPPORT for a family other than the socket's.
[[nodiscard]] int read_address(Reader& in, int system_family, Address* to);
/// Writes an address in that format, without flow and scope.
void write_address(Answer& out, const Address& address);
/// Writes only the bytes of an IPv4 or IPv6 address, behind the family's number that the caller has
/// written. Returns false for other families.
[[nodiscard]] bool write_ip(Answer& out, const sockaddr& address);

}  // namespace vmrun::inet

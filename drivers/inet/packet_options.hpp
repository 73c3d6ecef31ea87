// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <cstring>

#include "drivers/inet/protocol.hpp"

/// Options that travel with packets (ancillary data, cmsg(3)): type of service, traffic class, time
/// to live.
namespace vmrun::inet {

struct PacketOption {
  Option option;
  int level;
  int sent, received;  // the cmsg type for sending, and for receiving
};
inline constexpr PacketOption kPacketOptionKinds[] = {
    {kTypeOfService, IPPROTO_IP, IP_TOS, IP_TOS},
    {kTrafficClass, IPPROTO_IPV6, IPV6_TCLASS, IPV6_TCLASS},
    {kTtl, IPPROTO_IP, IP_TTL, IP_TTL},
};

/// Calls f(option, value) for each option that a message has brought.
template <class F>
void for_each_packet_option(msghdr& m, F&& f) {
  for (cmsghdr* c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c))
    for (const PacketOption& kind : kPacketOptionKinds) {
      if (c->cmsg_level != kind.level || c->cmsg_type != kind.received) continue;
      // The type of service is one byte, the others are ints.
      std::uint32_t value = 0;
      if (c->cmsg_len >= CMSG_LEN(sizeof value)) std::memcpy(&value, CMSG_DATA(c), sizeof value);
      else value = *CMSG_DATA(c);
      f(kind.option, value);
    }
}

}  // namespace vmrun::inet

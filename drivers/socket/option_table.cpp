// SPDX-License-Identifier: Apache-2.0
#include "drivers/socket/option_table.hpp"

#include <linux/sctp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>

#include "drivers/socket/ipv6.hpp"

// The options that OTP knows, by level; release.tab says which of them came late. For those without
// a number only the name is known: they belong to other systems, or are not supported.
namespace vmrun::sockets {
namespace {

constexpr Option kIp[] = {
    {"add_membership", IP_ADD_MEMBERSHIP, &kinds::kMembership},
    {"add_source_membership", IP_ADD_SOURCE_MEMBERSHIP, &kinds::kSourceMembership},
    {"block_source", IP_BLOCK_SOURCE, &kinds::kSourceMembership},
    {"drop_membership", IP_DROP_MEMBERSHIP, &kinds::kMembership},
    {"drop_source_membership", IP_DROP_SOURCE_MEMBERSHIP, &kinds::kSourceMembership},
    {"freebind", IP_FREEBIND, &kinds::kBoolean},
    {"hdrincl", IP_HDRINCL, &kinds::kBoolean},
    {"minttl", IP_MINTTL, &kinds::kInteger},
    {"msfilter", IP_MSFILTER, &kinds::kSourceFilter},
    {"mtu", IP_MTU, &kinds::kIntegerToGet},
    {"mtu_discover", IP_MTU_DISCOVER, &kinds::kMtuDiscovery},
    {"multicast_all", IP_MULTICAST_ALL, &kinds::kBoolean},
    {"multicast_if", IP_MULTICAST_IF, &kinds::kInterface},
    {"multicast_loop", IP_MULTICAST_LOOP, &kinds::kBoolean},
    {"multicast_ttl", IP_MULTICAST_TTL, &kinds::kInteger},
    {"nodefrag", IP_NODEFRAG, &kinds::kBoolean},
    {"pktinfo", IP_PKTINFO, &kinds::kBoolean},
    {"pktoptions", IP_PKTOPTIONS, &kinds::kControlMessages},
    {"recverr", IP_RECVERR, &kinds::kBoolean},
    {"recvopts", IP_RECVOPTS, &kinds::kBoolean},
    {"recvorigdstaddr", IP_RECVORIGDSTADDR, &kinds::kBoolean},
    {"recvtos", IP_RECVTOS, &kinds::kBoolean},
    {"recvttl", IP_RECVTTL, &kinds::kBoolean},
    {"retopts", IP_RETOPTS, &kinds::kBoolean},
    {"router_alert", IP_ROUTER_ALERT, &kinds::kInteger},
    {"tos", IP_TOS, &kinds::kTos},
    {"transparent", IP_TRANSPARENT, &kinds::kBoolean},
    {"ttl", IP_TTL, &kinds::kInteger},
    {"unblock_source", IP_UNBLOCK_SOURCE, &kinds::kSourceMembership},
    {"dontfrag"},
    {"options"},
    {"recvdstaddr"},
    {"recvif"},
    {"sendsrcaddr"},
};
constexpr Option kIpv6[] = {
    {"add_membership", IPV6_ADD_MEMBERSHIP, &kinds::kMembership6},
    {"addrform", IPV6_ADDRFORM, &kinds::kDomainToSet},
    {"authhdr", IPV6_AUTHHDR, &kinds::kBoolean},
    {"drop_membership", IPV6_DROP_MEMBERSHIP, &kinds::kMembership6},
    {"dstopts", IPV6_DSTOPTS, &kinds::kBoolean},
    {"flowinfo", IPV6_FLOWINFO, &kinds::kBoolean},
    {"hoplimit", IPV6_HOPLIMIT, &kinds::kBoolean},
    {"hopopts", IPV6_HOPOPTS, &kinds::kBoolean},
    {"mtu", IPV6_MTU, &kinds::kInteger},
    {"mtu_discover", IPV6_MTU_DISCOVER, &kinds::kMtuDiscovery},
    {"multicast_hops", IPV6_MULTICAST_HOPS, &kinds::kHops},
    {"multicast_if", IPV6_MULTICAST_IF, &kinds::kInteger},
    {"multicast_loop", IPV6_MULTICAST_LOOP, &kinds::kBoolean},
    {"recverr", IPV6_RECVERR, &kinds::kBoolean},
    {"recvhoplimit", IPV6_RECVHOPLIMIT, &kinds::kBoolean},
    {"recvpktinfo", IPV6_RECVPKTINFO, &kinds::kBoolean},
    {"recvtclass", IPV6_RECVTCLASS, &kinds::kBoolean},
    {"router_alert", IPV6_ROUTER_ALERT, &kinds::kInteger},
    {"rthdr", IPV6_RTHDR, &kinds::kBoolean},
    {"tclass", IPV6_TCLASS, &kinds::kInteger},
    {"unicast_hops", IPV6_UNICAST_HOPS, &kinds::kHops},
    {"v6only", IPV6_V6ONLY, &kinds::kBoolean},
    {"auth_level"},
    {"checksum"},
    {"esp_network_level"},
    {"esp_trans_level"},
    {"faith"},
    {"ipcomp_level"},
    {"join_group"},
    {"leave_group"},
    {"pktoptions"},
    {"portrange"},
    {"use_min_mtu"},
};
constexpr Option kSctp[] = {
    {"associnfo", SCTP_ASSOCINFO, &kinds::kSctpAssociation},
    {"autoclose", SCTP_AUTOCLOSE, &kinds::kInteger},
    {"disable_fragments", SCTP_DISABLE_FRAGMENTS, &kinds::kBoolean},
    {"events", SCTP_EVENTS, &kinds::kSctpEvents},
    {"initmsg", SCTP_INITMSG, &kinds::kSctpInit},
    {"maxseg", SCTP_MAXSEG, &kinds::kInteger},
    {"nodelay", SCTP_NODELAY, &kinds::kBoolean},
    {"rtoinfo", SCTP_RTOINFO, &kinds::kSctpTimeouts},
    {"adaption_layer"},
    {"auth_active_key"},
    {"auth_chunk"},
    {"auth_delete_key"},
    {"auth_key"},
    {"context"},
    {"default_send_params"},
    {"delayed_ack_time"},
    {"explicit_eor"},
    {"fragment_interleave"},
    {"get_peer_addr_info"},
    {"hmac_ident"},
    {"i_want_mapped_v4_addr"},
    {"local_auth_chunks"},
    {"maxburst"},
    {"partial_delivery_point"},
    {"peer_addr_params"},
    {"peer_auth_chunks"},
    {"primary_addr"},
    {"reset_streams"},
    {"set_peer_primary_addr"},
    {"status"},
    {"use_ext_recvinfo"},
};
constexpr Option kSocket[] = {
    {"acceptconn", SO_ACCEPTCONN, &kinds::kBoolean},
    {"bindtodevice", SO_BINDTODEVICE, &kinds::kString},
    {"broadcast", SO_BROADCAST, &kinds::kBoolean},
    {"debug", SO_DEBUG, &kinds::kInteger},
    {"domain", SO_DOMAIN, &kinds::kDomainToGet},
    {"dontroute", SO_DONTROUTE, &kinds::kBoolean},
    {"keepalive", SO_KEEPALIVE, &kinds::kBoolean},
    {"linger", SO_LINGER, &kinds::kLinger},
    {"oobinline", SO_OOBINLINE, &kinds::kBoolean},
    {"passcred", SO_PASSCRED, &kinds::kBoolean},
    {"peek_off", SO_PEEK_OFF, &kinds::kInteger},
    {"priority", SO_PRIORITY, &kinds::kInteger},
    {"protocol", SO_PROTOCOL, &kinds::kIntegerToGet},
    {"rcvbuf", SO_RCVBUF, &kinds::kInteger},
    {"rcvlowat", SO_RCVLOWAT, &kinds::kInteger},
    {"reuseaddr", SO_REUSEADDR, &kinds::kBoolean},
    {"reuseport", SO_REUSEPORT, &kinds::kBoolean},
    {"sndbuf", SO_SNDBUF, &kinds::kInteger},
    {"sndlowat", SO_SNDLOWAT, &kinds::kInteger},
    {"timestamp", SO_TIMESTAMP, &kinds::kBoolean},
    {"timestampns", SO_TIMESTAMPNS, &kinds::kBoolean},
    {"type", SO_TYPE, &kinds::kTypeToGet},
    {"acceptfilter"},
    {"bsp_state"},
    {"busy_poll"},
    {"error"},
    {"exclusiveaddruse"},
    {"mark"},
    {"max_msg_size"},
    {"maxdg"},
    {"peercred"},
    {"rcvbufforce"},
    {"rcvtimeo"},
    {"rxq_ovfl"},
    {"setfib"},
    {"sndbufforce"},
    {"sndtimeo"},
};
constexpr Option kTcp[] = {
    {"congestion", TCP_CONGESTION, &kinds::kString},
    {"cork", TCP_CORK, &kinds::kBoolean},
    {"keepcnt", TCP_KEEPCNT, &kinds::kInteger},
    {"keepidle", TCP_KEEPIDLE, &kinds::kInteger},
    {"keepintvl", TCP_KEEPINTVL, &kinds::kInteger},
    {"maxseg", TCP_MAXSEG, &kinds::kInteger},
    {"nodelay", TCP_NODELAY, &kinds::kBoolean},
    {"user_timeout", TCP_USER_TIMEOUT, &kinds::kUnsigned},
    {"info"},
    {"md5sig"},
    {"noopt"},
    {"nopush"},
    {"syncnt"},
};
constexpr Option kUdp[] = {
    {"cork", UDP_CORK, &kinds::kBoolean},
};

constexpr OptionLevel kLevels[] = {
    {"socket", SOL_SOCKET, kSocket}, {"ip", IPPROTO_IP, kIp},    {"ipv6", IPPROTO_IPV6, kIpv6},
    {"tcp", IPPROTO_TCP, kTcp},      {"udp", IPPROTO_UDP, kUdp}, {"sctp", IPPROTO_SCTP, kSctp},
};

}  // namespace

std::span<const OptionLevel> option_levels() { return kLevels; }

const OptionKind* find_option(int level, int number) {
  for (const OptionLevel& row : kLevels)
    if (row.number == level)
      for (const Option& option : row.options)
        if (option.kind && option.number == number) return option.kind;
  return nullptr;
}

}  // namespace vmrun::sockets

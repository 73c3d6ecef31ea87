// SPDX-License-Identifier: Apache-2.0
#include "drivers/socket/address_terms.hpp"

#include <net/if_arp.h>
#include <netpacket/packet.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "drivers/socket/named_numbers.hpp"

namespace vmrun::sockets {
namespace {

constexpr Named kDomains[] = {
    {"inet", AF_INET}, {"inet6", AF_INET6}, {"local", AF_UNIX}, {"unspec", AF_UNSPEC}};
constexpr Named kTypes[] = {
    {"stream", SOCK_STREAM}, {"dgram", SOCK_DGRAM}, {"raw", SOCK_RAW}, {"seqpacket", SOCK_SEQPACKET}};
constexpr Named kPacketTypes[] = {{"host", PACKET_HOST},
                                  {"broadcast", PACKET_BROADCAST},
                                  {"multicast", PACKET_MULTICAST},
                                  {"otherhost", PACKET_OTHERHOST},
                                  {"outgoing", PACKET_OUTGOING}};
constexpr Named kHardware[] = {
    {"netrom", ARPHRD_NETROM},     {"ether", ARPHRD_ETHER},     {"eether", ARPHRD_EETHER},
    {"ax25", ARPHRD_AX25},         {"pronet", ARPHRD_PRONET},   {"chaos", ARPHRD_CHAOS},
    {"ieee802", ARPHRD_IEEE802},   {"arcnet", ARPHRD_ARCNET},   {"appletlk", ARPHRD_APPLETLK},
    {"dlci", ARPHRD_DLCI},         {"atm", ARPHRD_ATM},         {"metricom", ARPHRD_METRICOM},
    {"ieee1394", ARPHRD_IEEE1394}, {"eui64", ARPHRD_EUI64},     {"infiniband", ARPHRD_INFINIBAND},
    {"tunnel", ARPHRD_TUNNEL},     {"tunnel6", ARPHRD_TUNNEL6}, {"loopback", ARPHRD_LOOPBACK},
    {"localtlk", ARPHRD_LOCALTLK}, {"void", ARPHRD_VOID},       {"none", ARPHRD_NONE}};

/// A tuple of N numbers that fit in `Part`.
template <class Part, int N>
bool get_parts(ErlNifEnv* env, ERL_NIF_TERM term, Part (&parts)[N]) {
  int arity;
  const ERL_NIF_TERM* elements;
  if (!enif_get_tuple(env, term, &arity, &elements) || arity != N) return false;
  for (int i = 0; i < N; ++i) {
    unsigned part;
    if (!enif_get_uint(env, elements[i], &part) || part > static_cast<Part>(-1)) return false;
    parts[i] = static_cast<Part>(part);
  }
  return true;
}

bool get_port(ErlNifEnv* env, ERL_NIF_TERM map, in_port_t* port) {
  ERL_NIF_TERM value;
  unsigned number;
  if (!get_field(env, map, atoms::port, &value) || !enif_get_uint(env, value, &number)) return false;
  *port = htons(static_cast<std::uint16_t>(number));
  return true;
}

bool get_inet(ErlNifEnv* env, ERL_NIF_TERM map, SizedAddress* to) {
  sockaddr_in& in = to->address.in;
  ERL_NIF_TERM addr;
  in.sin_family = AF_INET;
  to->size = sizeof in;
  return get_port(env, map, &in.sin_port) && get_field(env, map, atoms::addr, &addr) &&
         get_in_addr(env, addr, &in.sin_addr);
}

bool get_inet6(ErlNifEnv* env, ERL_NIF_TERM map, SizedAddress* to) {
  sockaddr_in6& in6 = to->address.in6;
  ERL_NIF_TERM addr, flow, scope;
  in6.sin6_family = AF_INET6;
  to->size = sizeof in6;
  return get_port(env, map, &in6.sin6_port) && get_field(env, map, atoms::addr, &addr) &&
         get_in6_addr(env, addr, &in6.sin6_addr) && get_field(env, map, atoms::flowinfo, &flow) &&
         enif_get_uint(env, flow, &in6.sin6_flowinfo) && get_field(env, map, atoms::scope_id, &scope) &&
         enif_get_uint(env, scope, &in6.sin6_scope_id);
}

/// A path ends with a zero; an abstract name, which begins with one, ends where the bytes end. For
/// an empty path the system chooses an abstract name.
bool get_local(ErlNifEnv* env, ERL_NIF_TERM map, SizedAddress* to) {
  sockaddr_un& un = to->address.un;
  ERL_NIF_TERM path;
  ErlNifBinary bytes;
  if (!get_field(env, map, atoms::path, &path) || !enif_inspect_binary(env, path, &bytes)) return false;
  if (bytes.size >= sizeof un.sun_path) return false;
  un.sun_family = AF_UNIX;
  std::memcpy(un.sun_path, bytes.data, bytes.size);
  const bool is_path = bytes.size && bytes.data[0];
  to->size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + bytes.size + (is_path ? 1 : 0));
  return true;
}

bool get_bytes(ErlNifEnv* env, ERL_NIF_TERM map, int family, SizedAddress* to) {
  ERL_NIF_TERM addr;
  ErlNifBinary bytes;
  constexpr std::size_t kMost = sizeof(Address) - offsetof(sockaddr, sa_data);
  if (!get_field(env, map, atoms::addr, &addr) || !enif_inspect_binary(env, addr, &bytes)) return false;
  if (bytes.size > kMost || family < 0 || family > 0xFFFF) return false;
  to->address.base.sa_family = static_cast<sa_family_t>(family);
  std::memcpy(reinterpret_cast<char*>(&to->address) + offsetof(sockaddr, sa_data), bytes.data, bytes.size);
  to->size = static_cast<socklen_t>(offsetof(sockaddr, sa_data) + bytes.size);
  return true;
}

ERL_NIF_TERM inet_term(ErlNifEnv* env, const sockaddr_in& in) {
  return map(env, {{atoms::family, atoms::inet},
                   {atoms::port, enif_make_uint(env, ntohs(in.sin_port))},
                   {atoms::addr, in_addr_term(env, in.sin_addr)}});
}

ERL_NIF_TERM inet6_term(ErlNifEnv* env, const sockaddr_in6& in6) {
  return map(env, {{atoms::family, atoms::inet6},
                   {atoms::port, enif_make_uint(env, ntohs(in6.sin6_port))},
                   {atoms::addr, in6_addr_term(env, in6.sin6_addr)},
                   {atoms::flowinfo, enif_make_uint(env, in6.sin6_flowinfo)},
                   {atoms::scope_id, enif_make_uint(env, in6.sin6_scope_id)}});
}

ERL_NIF_TERM local_term(ErlNifEnv* env, const sockaddr_un& un, socklen_t size) {
  std::size_t bytes = size - offsetof(sockaddr_un, sun_path);
  if (bytes && un.sun_path[0]) bytes = strnlen(un.sun_path, bytes);
  return map(env, {{atoms::family, atoms::local}, {atoms::path, binary(env, un.sun_path, bytes)}});
}

ERL_NIF_TERM packet_term(ErlNifEnv* env, const sockaddr_ll& ll) {
  const std::size_t bytes = std::min<std::size_t>(ll.sll_halen, sizeof ll.sll_addr);
  return map(env, {{atoms::family, atom(env, "packet")},
                   {atoms::protocol, enif_make_uint(env, ntohs(ll.sll_protocol))},
                   {atom(env, "ifindex"), enif_make_int(env, ll.sll_ifindex)},
                   {atom(env, "pkttype"), named_term(env, ll.sll_pkttype, kPacketTypes)},
                   {atom(env, "hatype"), hardware_term(env, ll.sll_hatype)},
                   {atoms::addr, binary(env, ll.sll_addr, bytes)}});
}

ERL_NIF_TERM bytes_term(ErlNifEnv* env, const Address& address, socklen_t size, int family) {
  constexpr socklen_t kHead = offsetof(sockaddr, sa_data);
  const char* bytes = reinterpret_cast<const char*>(&address) + kHead;
  const ERL_NIF_TERM name = family == AF_PACKET ? atom(env, "packet") : domain_term(env, family);
  return map(env,
             {{atoms::family, name}, {atoms::addr, binary(env, bytes, size > kHead ? size - kHead : 0)}});
}

}  // namespace

bool get_in_addr(ErlNifEnv* env, ERL_NIF_TERM term, in_addr* to) {
  std::uint8_t parts[4];
  if (term == atoms::any) to->s_addr = htonl(INADDR_ANY);
  else if (term == atoms::loopback) to->s_addr = htonl(INADDR_LOOPBACK);
  else if (term == atoms::broadcast) to->s_addr = htonl(INADDR_BROADCAST);
  else if (get_parts(env, term, parts)) std::memcpy(to, parts, sizeof *to);
  else return false;
  return true;
}

bool get_in6_addr(ErlNifEnv* env, ERL_NIF_TERM term, in6_addr* to) {
  std::uint16_t parts[8];
  if (term == atoms::any) *to = in6addr_any;
  else if (term == atoms::loopback) *to = in6addr_loopback;
  else if (get_parts(env, term, parts))
    for (int i = 0; i < 8; ++i) to->s6_addr16[i] = htons(parts[i]);
  else return false;
  return true;
}

ERL_NIF_TERM in_addr_term(ErlNifEnv* env, const in_addr& address) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&address);
  ERL_NIF_TERM parts[4];
  for (int i = 0; i < 4; ++i) parts[i] = enif_make_uint(env, bytes[i]);
  return enif_make_tuple_from_array(env, parts, 4);
}

ERL_NIF_TERM in6_addr_term(ErlNifEnv* env, const in6_addr& address) {
  ERL_NIF_TERM parts[8];
  for (int i = 0; i < 8; ++i) parts[i] = enif_make_uint(env, ntohs(address.s6_addr16[i]));
  return enif_make_tuple_from_array(env, parts, 8);
}

bool get_domain(ErlNifEnv* env, ERL_NIF_TERM term, int* to) { return get_named(env, term, kDomains, to); }
ERL_NIF_TERM domain_term(ErlNifEnv* env, int domain) { return named_term(env, domain, kDomains); }
bool get_type(ErlNifEnv* env, ERL_NIF_TERM term, int* to) { return get_named(env, term, kTypes, to); }
ERL_NIF_TERM type_term(ErlNifEnv* env, int type) { return named_term(env, type, kTypes); }

ERL_NIF_TERM hardware_term(ErlNifEnv* env, int kind) { return named_term(env, kind, kHardware); }

bool get_address(ErlNifEnv* env, ERL_NIF_TERM term, SizedAddress* to) {
  ERL_NIF_TERM family;
  int number;
  if (!get_field(env, term, atoms::family, &family)) return false;
  if (family == atoms::inet) return get_inet(env, term, to);
  if (family == atoms::inet6) return get_inet6(env, term, to);
  if (family == atoms::local) return get_local(env, term, to);
  return get_domain(env, family, &number) && get_bytes(env, term, number, to);
}

ERL_NIF_TERM address_term(ErlNifEnv* env, const Address& address, socklen_t size) {
  size = std::min<socklen_t>(size, sizeof address);
  const int family = size < sizeof address.base.sa_family ? AF_UNSPEC : address.base.sa_family;
  if (family == AF_INET && size >= sizeof address.in) return inet_term(env, address.in);
  if (family == AF_INET6 && size >= sizeof address.in6) return inet6_term(env, address.in6);
  if (family == AF_UNIX) return local_term(env, address.un, size);
  if (family == AF_PACKET && size >= sizeof(sockaddr_ll))
    return packet_term(env, reinterpret_cast<const sockaddr_ll&>(address));
  return bytes_term(env, address, size, family);
}

}  // namespace vmrun::sockets

// SPDX-License-Identifier: Apache-2.0
#include "drivers/socket/control_message.hpp"

#include <linux/errqueue.h>
#include <linux/sctp.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>

#include <cstring>
#include <ctime>
#include <optional>

#include "drivers/socket/address_terms.hpp"
#include "drivers/socket/ipv6.hpp"
#include "drivers/socket/named_numbers.hpp"
#include "drivers/socket/option_values.hpp"

namespace vmrun::sockets {
namespace {

using Bytes = std::vector<char>;

/// Reads a T from the first bytes; returns nothing when there are too few.
template <class T>
std::optional<T> read(const unsigned char* data, std::size_t size) {
  T value;
  if (size < sizeof value) return {};
  std::memcpy(&value, data, sizeof value);
  return value;
}

template <class T>
void write(const T& value, Bytes* to) {
  const char* bytes = reinterpret_cast<const char*>(&value);
  to->assign(bytes, bytes + sizeof value);
}

/// Numbers are one byte or an int.
std::optional<int> read_number(const unsigned char* data, std::size_t size) {
  return size == 1 ? std::optional<int>(data[0]) : read<int>(data, size);
}

// ---- Errors that the network has reported ----

constexpr Named kOrigins[] = {{"none", SO_EE_ORIGIN_NONE},
                              {"local", SO_EE_ORIGIN_LOCAL},
                              {"icmp", SO_EE_ORIGIN_ICMP},
                              {"icmp6", SO_EE_ORIGIN_ICMP6}};
constexpr Named kIcmpTypes[] = {{"dest_unreach", ICMP_DEST_UNREACH}, {"time_exceeded", ICMP_TIME_EXCEEDED}};
constexpr Named kIcmpUnreachable[] = {
    {"net_unreach", ICMP_NET_UNREACH},   {"host_unreach", ICMP_HOST_UNREACH},
    {"port_unreach", ICMP_PORT_UNREACH}, {"frag_needed", ICMP_FRAG_NEEDED},
    {"net_unknown", ICMP_NET_UNKNOWN},   {"host_unknown", ICMP_HOST_UNKNOWN}};
constexpr Named kIcmp6Types[] = {{"dest_unreach", ICMP6_DST_UNREACH},
                                 {"pkt_toobig", ICMP6_PACKET_TOO_BIG},
                                 {"time_exceeded", ICMP6_TIME_EXCEEDED}};
constexpr Named kIcmp6Unreachable[] = {{"noroute", ICMP6_DST_UNREACH_NOROUTE},
                                       {"adm_prohibited", ICMP6_DST_UNREACH_ADMIN},
                                       {"not_neighbour", ICMP6_DST_UNREACH_BEYONDSCOPE},
                                       {"addr_unreach", ICMP6_DST_UNREACH_ADDR},
                                       {"port_unreach", ICMP6_DST_UNREACH_NOPORT},
                                       {"policy_fail", 5},
                                       {"reject_route", 6}};

ERL_NIF_TERM error_type_term(ErlNifEnv* env, const sock_extended_err& e) {
  if (e.ee_origin == SO_EE_ORIGIN_ICMP) return named_term(env, e.ee_type, kIcmpTypes);
  if (e.ee_origin == SO_EE_ORIGIN_ICMP6) return named_term(env, e.ee_type, kIcmp6Types);
  return enif_make_int(env, e.ee_type);
}

ERL_NIF_TERM error_code_term(ErlNifEnv* env, const sock_extended_err& e) {
  if (e.ee_origin == SO_EE_ORIGIN_ICMP && e.ee_type == ICMP_DEST_UNREACH)
    return named_term(env, e.ee_code, kIcmpUnreachable);
  if (e.ee_origin == SO_EE_ORIGIN_ICMP6 && e.ee_type == ICMP6_DST_UNREACH)
    return named_term(env, e.ee_code, kIcmp6Unreachable);
  return enif_make_int(env, e.ee_code);
}

std::optional<ERL_NIF_TERM> extended_error(ErlNifEnv* env, const unsigned char* data, std::size_t size) {
  const auto e = read<sock_extended_err>(data, size);
  if (!e) return {};
  Address offender{};
  const std::size_t rest = std::min(size - sizeof *e, sizeof offender);
  std::memcpy(&offender, data + sizeof *e, rest);
  return map(env, {{atoms::error, posix(env, static_cast<int>(e->ee_errno))},
                   {atom(env, "origin"), named_term(env, e->ee_origin, kOrigins)},
                   {atoms::type, error_type_term(env, *e)},
                   {atom(env, "code"), error_code_term(env, *e)},
                   {atom(env, "info"), enif_make_uint(env, e->ee_info)},
                   {atoms::data, enif_make_uint(env, e->ee_data)},
                   {atom(env, "offender"), address_term(env, offender, static_cast<socklen_t>(rest))}});
}

// ---- Values ----

using Reader = std::optional<ERL_NIF_TERM> (*)(ErlNifEnv*, const unsigned char*, std::size_t);
using Writer = bool (*)(ErlNifEnv*, ERL_NIF_TERM, Bytes*);

std::optional<ERL_NIF_TERM> number(ErlNifEnv* env, const unsigned char* data, std::size_t size) {
  const auto n = read_number(data, size);
  return n ? std::optional(enif_make_int(env, *n)) : std::nullopt;
}
bool number_bytes(ErlNifEnv* env, ERL_NIF_TERM value, Bytes* to) {
  int n;
  return enif_get_int(env, value, &n) && (write(n, to), true);
}

std::optional<ERL_NIF_TERM> tos(ErlNifEnv* env, const unsigned char* data, std::size_t size) {
  const auto n = read_number(data, size);
  return n ? std::optional(tos_term(env, *n)) : std::nullopt;
}
bool tos_bytes(ErlNifEnv* env, ERL_NIF_TERM value, Bytes* to) {
  int n;
  return get_tos(env, value, &n) && (write(n, to), true);
}

std::optional<ERL_NIF_TERM> time(ErlNifEnv* env, const unsigned char* data, std::size_t size) {
  const auto t = read<timeval>(data, size);
  return t ? std::optional(timeval_term(env, *t)) : std::nullopt;
}
bool time_bytes(ErlNifEnv* env, ERL_NIF_TERM value, Bytes* to) {
  timeval t;
  return get_timeval(env, value, &t) && (write(t, to), true);
}

std::optional<ERL_NIF_TERM> exact_time(ErlNifEnv* env, const unsigned char* data, std::size_t size) {
  const auto t = read<timespec>(data, size);
  if (!t) return {};
  return map(env, {{atom(env, "sec"), enif_make_int64(env, t->tv_sec)},
                   {atom(env, "nsec"), enif_make_int64(env, t->tv_nsec)}});
}
bool exact_time_bytes(ErlNifEnv* env, ERL_NIF_TERM value, Bytes* to) {
  ERL_NIF_TERM seconds, nanoseconds;
  ErlNifSInt64 s, ns;
  if (!get_field(env, value, "sec", &seconds) || !enif_get_int64(env, seconds, &s) ||
      !get_field(env, value, "nsec", &nanoseconds) || !enif_get_int64(env, nanoseconds, &ns))
    return false;
  write(timespec{s, ns}, to);
  return true;
}

std::optional<ERL_NIF_TERM> packet_info(ErlNifEnv* env, const unsigned char* data, std::size_t size) {
  const auto info = read<in_pktinfo>(data, size);
  if (!info) return {};
  return map(env, {{atom(env, "ifindex"), enif_make_int(env, info->ipi_ifindex)},
                   {atom(env, "spec_dst"), in_addr_term(env, info->ipi_spec_dst)},
                   {atoms::addr, in_addr_term(env, info->ipi_addr)}});
}

std::optional<ERL_NIF_TERM> packet_info6(ErlNifEnv* env, const unsigned char* data, std::size_t size) {
  const auto info = read<in6_pktinfo>(data, size);
  if (!info) return {};
  return map(env, {{atoms::addr, in6_addr_term(env, info->ipi6_addr)},
                   {atom(env, "ifindex"), enif_make_uint(env, info->ipi6_ifindex)}});
}

std::optional<ERL_NIF_TERM> address(ErlNifEnv* env, const unsigned char* data, std::size_t size) {
  Address a{};
  std::memcpy(&a, data, std::min(size, sizeof a));
  return address_term(env, a, static_cast<socklen_t>(size));
}

struct Kind {
  int level, type;
  const char* name;
  Reader read;   // nullptr: the value is not known
  Writer write;  // nullptr: it cannot be sent
};
constexpr Kind kKinds[] = {
    {SOL_SOCKET, SCM_TIMESTAMP, "timestamp", time, time_bytes},
    {SOL_SOCKET, SCM_TIMESTAMPNS, "timestampns", exact_time, exact_time_bytes},
    {SOL_SOCKET, SCM_RIGHTS, "rights", nullptr, nullptr},
    {SOL_SOCKET, SCM_CREDENTIALS, "credentials", nullptr, nullptr},
    {IPPROTO_IP, IP_TOS, "tos", tos, tos_bytes},
    {IPPROTO_IP, IP_RECVTOS, "recvtos", tos, nullptr},
    {IPPROTO_IP, IP_TTL, "ttl", number, number_bytes},
    {IPPROTO_IP, IP_RECVTTL, "recvttl", number, nullptr},
    {IPPROTO_IP, IP_PKTINFO, "pktinfo", packet_info, nullptr},
    {IPPROTO_IP, IP_ORIGDSTADDR, "origdstaddr", address, nullptr},
    {IPPROTO_IP, IP_RECVERR, "recverr", extended_error, nullptr},
    {IPPROTO_IPV6, IPV6_PKTINFO, "pktinfo", packet_info6, nullptr},
    {IPPROTO_IPV6, IPV6_FLOWINFO, "flowinfo", number, nullptr},
    {IPPROTO_IPV6, IPV6_HOPLIMIT, "hoplimit", number, number_bytes},
    {IPPROTO_IPV6, IPV6_TCLASS, "tclass", number, number_bytes},
    {IPPROTO_IPV6, IPV6_RECVERR, "recverr", extended_error, nullptr},
};

bool is_known(const Kind& kind) { return known("control_message", kind.name) == Known::kYes; }
const Kind* find_kind(int level, int type) {
  for (const Kind& kind : kKinds)
    if (kind.level == level && kind.type == type) return is_known(kind) ? &kind : nullptr;
  return nullptr;
}
const Kind* find_kind(ErlNifEnv* env, int level, ERL_NIF_TERM name) {
  for (const Kind& kind : kKinds)
    if (kind.level == level && atom(env, kind.name) == name) return is_known(kind) ? &kind : nullptr;
  return nullptr;
}

// ---- Sending ----

bool get_level(ErlNifEnv* env, ERL_NIF_TERM map, int* to) {
  ERL_NIF_TERM level;
  if (!get_field(env, map, atoms::level, &level)) return false;
  if (level != atoms::socket) return enif_get_int(env, level, to);
  *to = SOL_SOCKET;
  return true;
}

bool get_content(ErlNifEnv* env, ERL_NIF_TERM map, const Kind* kind, Bytes* to) {
  ERL_NIF_TERM term;
  if (get_field(env, map, atoms::value, &term)) return kind && kind->write && kind->write(env, term, to);
  int number;
  const void* bytes;
  std::size_t size;
  if (!get_field(env, map, atoms::data, &term) || !get_native(env, term, &number, &bytes, &size))
    return false;
  to->assign(static_cast<const char*>(bytes), static_cast<const char*>(bytes) + size);
  return true;
}

bool append(ErlNifEnv* env, ERL_NIF_TERM map, std::size_t most, Bytes* to) {
  int level, type;
  ERL_NIF_TERM type_term;
  Bytes content;
  if (!get_level(env, map, &level) || !get_field(env, map, atoms::type, &type_term)) return false;
  const bool is_number = enif_get_int(env, type_term, &type);
  const Kind* kind = is_number ? find_kind(level, type) : find_kind(env, level, type_term);
  if ((!is_number && !kind) || !get_content(env, map, kind, &content)) return false;
  const std::size_t at = to->size();
  if (content.size() > most || at + CMSG_SPACE(content.size()) > most) return false;
  to->resize(at + CMSG_SPACE(content.size()));
  cmsghdr header{};
  header.cmsg_len = CMSG_LEN(content.size());
  header.cmsg_level = level;
  header.cmsg_type = is_number ? type : kind->type;
  std::memcpy(to->data() + at, &header, sizeof header);
  if (!content.empty()) std::memcpy(to->data() + at + CMSG_LEN(0), content.data(), content.size());
  return true;
}

// ---- Receiving ----

ERL_NIF_TERM message_term(ErlNifEnv* env, const cmsghdr& header) {
  const unsigned char* data = CMSG_DATA(&header);
  const std::size_t size = header.cmsg_len - CMSG_LEN(0);
  const Kind* kind = find_kind(header.cmsg_level, header.cmsg_type);
  Pairs pairs{
      {atoms::level, header.cmsg_level == SOL_SOCKET ? atoms::socket : enif_make_int(env, header.cmsg_level)},
      {atoms::type, kind ? atom(env, kind->name) : enif_make_int(env, header.cmsg_type)},
      {atoms::data, binary(env, data, size)}};
  if (kind && kind->read)
    if (const auto value = kind->read(env, data, size)) pairs.emplace_back(atoms::value, *value);
  return map(env, pairs);
}

constexpr Named kFlags[] = {{"cmsg_cloexec", MSG_CMSG_CLOEXEC},
                            {"confirm", MSG_CONFIRM},
                            {"ctrunc", MSG_CTRUNC},
                            {"dontroute", MSG_DONTROUTE},
                            {"eor", MSG_EOR},
                            {"errqueue", MSG_ERRQUEUE},
                            {"more", MSG_MORE},
                            {"nosignal", MSG_NOSIGNAL},
                            {"notification", MSG_NOTIFICATION},
                            {"oob", MSG_OOB},
                            {"peek", MSG_PEEK},
                            {"trunc", MSG_TRUNC}};

}  // namespace

bool get_control_messages(ErlNifEnv* env, ERL_NIF_TERM list, std::size_t most, std::vector<char>* to) {
  ERL_NIF_TERM head;
  while (enif_get_list_cell(env, list, &head, &list))
    if (!append(env, head, most, to)) return false;
  return enif_is_empty_list(env, list);
}

ERL_NIF_TERM control_messages_term(ErlNifEnv* env, const msghdr& message) {
  std::vector<ERL_NIF_TERM> all;
  auto* at = const_cast<msghdr*>(&message);
  for (cmsghdr* header = CMSG_FIRSTHDR(at); header; header = CMSG_NXTHDR(at, header))
    all.push_back(message_term(env, *header));
  return list(env, all);
}

ERL_NIF_TERM message_flags_term(ErlNifEnv* env, int flags) {
  std::vector<ERL_NIF_TERM> all;
  for (const Named& flag : kFlags) {
    if (!(flags & flag.value) || known("msg_flag", flag.name) != Known::kYes) continue;
    all.push_back(atom(env, flag.name));
    flags &= ~flag.value;
  }
  if (flags) all.push_back(enif_make_int(env, flags));
  return list(env, all);
}

std::span<const Named> message_flags() { return kFlags; }

}  // namespace vmrun::sockets

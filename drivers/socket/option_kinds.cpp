// SPDX-License-Identifier: Apache-2.0
#include "drivers/socket/option_kinds.hpp"

#include <linux/sctp.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>

#include "drivers/socket/address_terms.hpp"
#include "drivers/socket/control_message.hpp"
#include "drivers/socket/named_numbers.hpp"
#include "drivers/socket/option_values.hpp"

namespace vmrun::sockets {
namespace {

using Bytes = std::vector<char>;

template <class T>
bool put(const T& value, Bytes* to) {
  const char* bytes = reinterpret_cast<const char*>(&value);
  to->assign(bytes, bytes + sizeof value);
  return true;
}

/// Converts the system's bytes to a T, with zeros where there are too few.
template <class T>
T got(const char* bytes, std::size_t size) {
  T value{};
  std::memcpy(&value, bytes, std::min(size, sizeof value));
  return value;
}

// ---- Numbers and names ----

bool read_integer(ErlNifEnv* env, ERL_NIF_TERM term, Bytes* to) {
  int n;
  return enif_get_int(env, term, &n) && put(n, to);
}
ERL_NIF_TERM show_integer(ErlNifEnv* env, const char* bytes, std::size_t size) {
  return enif_make_int(env, got<int>(bytes, size));
}

bool read_unsigned(ErlNifEnv* env, ERL_NIF_TERM term, Bytes* to) {
  unsigned n;
  return enif_get_uint(env, term, &n) && put(n, to);
}
ERL_NIF_TERM show_unsigned(ErlNifEnv* env, const char* bytes, std::size_t size) {
  return enif_make_uint(env, got<unsigned>(bytes, size));
}

bool read_boolean(ErlNifEnv*, ERL_NIF_TERM term, Bytes* to) {
  bool is_on;
  return get_boolean(term, &is_on) && put(static_cast<int>(is_on), to);
}
ERL_NIF_TERM show_boolean(ErlNifEnv*, const char* bytes, std::size_t size) {
  return boolean(got<int>(bytes, size) != 0);
}

bool read_domain(ErlNifEnv* env, ERL_NIF_TERM term, Bytes* to) {
  int domain;
  return get_domain(env, term, &domain) && put(domain, to);
}
ERL_NIF_TERM show_domain(ErlNifEnv* env, const char* bytes, std::size_t size) {
  return domain_term(env, got<int>(bytes, size));
}
ERL_NIF_TERM show_type(ErlNifEnv* env, const char* bytes, std::size_t size) {
  return type_term(env, got<int>(bytes, size));
}

bool read_string(ErlNifEnv* env, ERL_NIF_TERM term, Bytes* to) {
  char text[64];
  const int size = enif_get_string(env, term, text, sizeof text, ERL_NIF_LATIN1);
  if (size <= 0) return false;
  to->assign(text, text + size);
  return true;
}
/// Returns all bytes except the last one, which ends the string.
ERL_NIF_TERM show_string(ErlNifEnv* env, const char* bytes, std::size_t size) {
  return enif_make_string_len(env, bytes, size ? size - 1 : 0, ERL_NIF_LATIN1);
}

bool read_tos(ErlNifEnv* env, ERL_NIF_TERM term, Bytes* to) {
  int tos;
  return get_tos(env, term, &tos) && put(tos, to);
}
ERL_NIF_TERM show_tos(ErlNifEnv* env, const char* bytes, std::size_t size) {
  return tos_term(env, got<int>(bytes, size));
}

// IPv4 and IPv6 use the same numbers.
constexpr Named kMtuDiscoveries[] = {{"want", IP_PMTUDISC_WANT},
                                     {"dont", IP_PMTUDISC_DONT},
                                     {"do", IP_PMTUDISC_DO},
                                     {"probe", IP_PMTUDISC_PROBE}};
bool read_mtu_discovery(ErlNifEnv* env, ERL_NIF_TERM term, Bytes* to) {
  int how;
  return get_named(env, term, kMtuDiscoveries, &how) && put(how, to);
}
ERL_NIF_TERM show_mtu_discovery(ErlNifEnv* env, const char* bytes, std::size_t size) {
  return named_term(env, got<int>(bytes, size), kMtuDiscoveries);
}

constexpr Named kDefaultHops[] = {{"default", -1}};
bool read_hops(ErlNifEnv* env, ERL_NIF_TERM term, Bytes* to) {
  int hops;
  if (!get_named(env, term, kDefaultHops, &hops)) return false;
  const bool is_named = enif_is_atom(env, term);
  return (is_named || (hops >= 0 && hops <= 255)) && put(hops, to);
}
ERL_NIF_TERM show_hops(ErlNifEnv* env, const char* bytes, std::size_t size) {
  return named_term(env, got<int>(bytes, size), kDefaultHops);
}

bool read_linger(ErlNifEnv* env, ERL_NIF_TERM term, Bytes* to) {
  if (term == atoms::abort) return put(linger{1, 0}, to);
  ERL_NIF_TERM onoff, time;
  linger value{};
  bool is_on;
  if (!get_field(env, term, "onoff", &onoff) || !get_boolean(onoff, &is_on)) return false;
  if (!get_field(env, term, "linger", &time) || !enif_get_int(env, time, &value.l_linger)) return false;
  value.l_onoff = is_on;
  return value.l_linger >= 0 && put(value, to);
}
ERL_NIF_TERM show_linger(ErlNifEnv* env, const char* bytes, std::size_t size) {
  const auto value = got<linger>(bytes, size);
  return map(env, {{atom(env, "onoff"), boolean(value.l_onoff)},
                   {atom(env, "linger"), enif_make_int(env, value.l_linger)}});
}

// ---- Groups ----

bool get_address_field(ErlNifEnv* env, ERL_NIF_TERM map, const char* key, in_addr* to) {
  ERL_NIF_TERM value;
  return get_field(env, map, key, &value) && get_in_addr(env, value, to);
}

bool read_interface(ErlNifEnv* env, ERL_NIF_TERM term, Bytes* to) {
  in_addr address;
  return get_in_addr(env, term, &address) && put(address, to);
}
ERL_NIF_TERM show_interface(ErlNifEnv* env, const char* bytes, std::size_t size) {
  return in_addr_term(env, got<in_addr>(bytes, size));
}

bool read_membership(ErlNifEnv* env, ERL_NIF_TERM term, Bytes* to) {
  ip_mreq value{};
  return get_address_field(env, term, "multiaddr", &value.imr_multiaddr) &&
         get_address_field(env, term, "interface", &value.imr_interface) && put(value, to);
}

bool read_source_membership(ErlNifEnv* env, ERL_NIF_TERM term, Bytes* to) {
  ip_mreq_source value{};
  return get_address_field(env, term, "multiaddr", &value.imr_multiaddr) &&
         get_address_field(env, term, "interface", &value.imr_interface) &&
         get_address_field(env, term, "sourceaddr", &value.imr_sourceaddr) && put(value, to);
}

/// `null` gives an empty value, which the system refuses.
bool read_source_filter(ErlNifEnv* env, ERL_NIF_TERM term, Bytes* to) {
  if (term == atom(env, "null")) return true;
  ip_msfilter value{};
  ERL_NIF_TERM mode, sources, head;
  unsigned count;
  if (!get_address_field(env, term, "multiaddr", &value.imsf_multiaddr) ||
      !get_address_field(env, term, "interface", &value.imsf_interface) ||
      !get_field(env, term, "mode", &mode) || !get_field(env, term, "slist", &sources) ||
      !enif_get_list_length(env, sources, &count))
    return false;
  if (mode == atom(env, "include")) value.imsf_fmode = MCAST_INCLUDE;
  else if (mode == atom(env, "exclude")) value.imsf_fmode = MCAST_EXCLUDE;
  else return false;
  value.imsf_numsrc = count;
  const char* bytes = reinterpret_cast<const char*>(&value);
  to->assign(bytes, bytes + offsetof(ip_msfilter, imsf_slist));
  while (enif_get_list_cell(env, sources, &head, &sources)) {
    in_addr source;
    if (!get_in_addr(env, head, &source)) return false;
    const char* address = reinterpret_cast<const char*>(&source);
    to->insert(to->end(), address, address + sizeof source);
  }
  return true;
}

bool read_membership6(ErlNifEnv* env, ERL_NIF_TERM term, Bytes* to) {
  ipv6_mreq value{};
  ERL_NIF_TERM address, interface;
  return get_field(env, term, "multiaddr", &address) && get_in6_addr(env, address, &value.ipv6mr_multiaddr) &&
         get_field(env, term, "interface", &interface) &&
         enif_get_uint(env, interface, &value.ipv6mr_interface) && put(value, to);
}

ERL_NIF_TERM show_control_messages(ErlNifEnv* env, const char* bytes, std::size_t size) {
  alignas(cmsghdr) char aligned[1024];
  std::memcpy(aligned, bytes, std::min(size, sizeof aligned));
  msghdr message{};
  message.msg_control = aligned;
  message.msg_controllen = std::min(size, sizeof aligned);
  return control_messages_term(env, message);
}

// ---- SCTP: maps of numbers, by the members of a struct ----

struct Member {
  const char* name;
  std::size_t offset, size;  // size 1: a boolean
};

template <class T>
std::uint64_t member_of(const T& value, const Member& m) {
  std::uint64_t n = 0;
  std::memcpy(&n, reinterpret_cast<const char*>(&value) + m.offset, m.size);
  return n;
}

/// Missing members are zero, if they are booleans.
template <class T, std::size_t N>
bool read_members(ErlNifEnv* env, ERL_NIF_TERM term, const Member (&members)[N], Bytes* to) {
  T value{};
  for (const Member& m : members) {
    ERL_NIF_TERM field;
    ErlNifSInt64 n = 0;
    bool is_on;
    const bool is_there = get_field(env, term, m.name, &field);
    if (!is_there && m.size != 1) return false;
    if (is_there && m.size == 1 && !get_boolean(field, &is_on)) return false;
    if (is_there && m.size == 1) n = is_on;
    else if (is_there && !enif_get_int64(env, field, &n)) return false;
    std::memcpy(reinterpret_cast<char*>(&value) + m.offset, &n, m.size);
  }
  return enif_is_map(env, term) && put(value, to);
}

template <class T, std::size_t N>
ERL_NIF_TERM show_members(ErlNifEnv* env, const char* bytes, std::size_t size, const Member (&members)[N]) {
  const T value = got<T>(bytes, size);
  Pairs pairs;
  for (const Member& m : members) {
    const std::uint64_t n = member_of(value, m);
    pairs.emplace_back(atom(env, m.name), m.size == 1 ? boolean(n) : enif_make_uint64(env, n));
  }
  return map(env, pairs);
}

#define VMRUN_MEMBER(type, member, name) \
  { name, offsetof(type, member), sizeof(type::member) }
constexpr Member kAssociation[] = {
    VMRUN_MEMBER(sctp_assocparams, sasoc_assoc_id, "assoc_id"),
    VMRUN_MEMBER(sctp_assocparams, sasoc_asocmaxrxt, "max_rxt"),
    VMRUN_MEMBER(sctp_assocparams, sasoc_number_peer_destinations, "num_peer_dests"),
    VMRUN_MEMBER(sctp_assocparams, sasoc_peer_rwnd, "peer_rwnd"),
    VMRUN_MEMBER(sctp_assocparams, sasoc_local_rwnd, "local_rwnd"),
    VMRUN_MEMBER(sctp_assocparams, sasoc_cookie_life, "cookie_life"),
};
constexpr Member kEvents[] = {
    VMRUN_MEMBER(sctp_event_subscribe, sctp_data_io_event, "data_io"),
    VMRUN_MEMBER(sctp_event_subscribe, sctp_association_event, "association"),
    VMRUN_MEMBER(sctp_event_subscribe, sctp_address_event, "address"),
    VMRUN_MEMBER(sctp_event_subscribe, sctp_send_failure_event, "send_failure"),
    VMRUN_MEMBER(sctp_event_subscribe, sctp_peer_error_event, "peer_error"),
    VMRUN_MEMBER(sctp_event_subscribe, sctp_shutdown_event, "shutdown"),
    VMRUN_MEMBER(sctp_event_subscribe, sctp_partial_delivery_event, "partial_delivery"),
    VMRUN_MEMBER(sctp_event_subscribe, sctp_adaptation_layer_event, "adaptation_layer"),
    VMRUN_MEMBER(sctp_event_subscribe, sctp_authentication_event, "authentication"),
    VMRUN_MEMBER(sctp_event_subscribe, sctp_sender_dry_event, "sender_dry"),
};
constexpr Member kInit[] = {
    VMRUN_MEMBER(sctp_initmsg, sinit_num_ostreams, "num_outstreams"),
    VMRUN_MEMBER(sctp_initmsg, sinit_max_instreams, "max_instreams"),
    VMRUN_MEMBER(sctp_initmsg, sinit_max_attempts, "max_attempts"),
    VMRUN_MEMBER(sctp_initmsg, sinit_max_init_timeo, "max_init_timeo"),
};
constexpr Member kTimeouts[] = {
    VMRUN_MEMBER(sctp_rtoinfo, srto_assoc_id, "assoc_id"),
    VMRUN_MEMBER(sctp_rtoinfo, srto_initial, "initial"),
    VMRUN_MEMBER(sctp_rtoinfo, srto_max, "max"),
    VMRUN_MEMBER(sctp_rtoinfo, srto_min, "min"),
};
#undef VMRUN_MEMBER

template <class T, const auto& members>
constexpr OptionKind struct_kind() {
  return {
      [](ErlNifEnv* env, ERL_NIF_TERM term, Bytes* to) { return read_members<T>(env, term, members, to); },
      [](ErlNifEnv* env, const char* bytes, std::size_t size) {
        return show_members<T>(env, bytes, size, members);
      },
      sizeof(T)};
}

}  // namespace

namespace kinds {
constexpr OptionKind kInteger{read_integer, show_integer, sizeof(int)};
constexpr OptionKind kUnsigned{read_unsigned, show_unsigned, sizeof(unsigned)};
constexpr OptionKind kBoolean{read_boolean, show_boolean, sizeof(int)};
constexpr OptionKind kIntegerToGet{nullptr, show_integer, sizeof(int)};
constexpr OptionKind kDomainToGet{nullptr, show_domain, sizeof(int)};
constexpr OptionKind kTypeToGet{nullptr, show_type, sizeof(int)};
constexpr OptionKind kDomainToSet{read_domain, nullptr, 0};
constexpr OptionKind kString{read_string, show_string, 16};
constexpr OptionKind kLinger{read_linger, show_linger, sizeof(linger)};
constexpr OptionKind kTos{read_tos, show_tos, sizeof(int)};
constexpr OptionKind kMtuDiscovery{read_mtu_discovery, show_mtu_discovery, sizeof(int)};
constexpr OptionKind kHops{read_hops, show_hops, sizeof(int)};
constexpr OptionKind kInterface{read_interface, show_interface, sizeof(in_addr)};
constexpr OptionKind kMembership{read_membership, nullptr, 0};
constexpr OptionKind kSourceMembership{read_source_membership, nullptr, 0};
constexpr OptionKind kSourceFilter{read_source_filter, nullptr, 0};
constexpr OptionKind kMembership6{read_membership6, nullptr, 0};
constexpr OptionKind kControlMessages{nullptr, show_control_messages, 1024};
constexpr OptionKind kSctpAssociation = struct_kind<sctp_assocparams, kAssociation>();
constexpr OptionKind kSctpEvents = struct_kind<sctp_event_subscribe, kEvents>();
constexpr OptionKind kSctpInit = struct_kind<sctp_initmsg, kInit>();
constexpr OptionKind kSctpTimeouts = struct_kind<sctp_rtoinfo, kTimeouts>();
}  // namespace kinds

}  // namespace vmrun::sockets

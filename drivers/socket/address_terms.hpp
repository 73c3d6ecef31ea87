// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "vm/include/erl_nif.h"

/// Addresses: the maps of socket:sockaddr() and what the system calls take.
namespace vmrun::sockets {

union Address {
  sockaddr base;
  sockaddr_in in;
  sockaddr_in6 in6;
  sockaddr_un un;
  sockaddr_storage storage;
};

struct SizedAddress {
  Address address{};
  socklen_t size = sizeof(Address);
};

/// Reads a map that prim_socket has filled in. Returns false when it is not an address.
bool get_address(ErlNifEnv* env, ERL_NIF_TERM term, SizedAddress* to);
/// Makes the map of an address of any family; an unknown one becomes a number and bytes.
ERL_NIF_TERM address_term(ErlNifEnv* env, const Address& address, socklen_t size);

/// {A, B, C, D}, or one of the names any, loopback, broadcast.
bool get_in_addr(ErlNifEnv* env, ERL_NIF_TERM term, in_addr* to);
/// {A, B, C, D, E, F, G, H}, or any, loopback.
bool get_in6_addr(ErlNifEnv* env, ERL_NIF_TERM term, in6_addr* to);
ERL_NIF_TERM in_addr_term(ErlNifEnv* env, const in_addr& address);
ERL_NIF_TERM in6_addr_term(ErlNifEnv* env, const in6_addr& address);

/// inet, inet6, local, unspec, or a number.
bool get_domain(ErlNifEnv* env, ERL_NIF_TERM term, int* to);
ERL_NIF_TERM domain_term(ErlNifEnv* env, int domain);
/// stream, dgram, raw, seqpacket, or a number.
bool get_type(ErlNifEnv* env, ERL_NIF_TERM term, int* to);
ERL_NIF_TERM type_term(ErlNifEnv* env, int type);

/// What kind of network an interface is on: ether, loopback…
ERL_NIF_TERM hardware_term(ErlNifEnv* env, int kind);

}  // namespace vmrun::sockets

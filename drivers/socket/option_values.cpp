// SPDX-License-Identifier: Apache-2.0
#include "drivers/socket/option_values.hpp"

#include <netinet/ip.h>

#include "drivers/socket/named_numbers.hpp"

namespace vmrun::sockets {
namespace {

constexpr Named kTos[] = {{"lowdelay", IPTOS_LOWDELAY},
                          {"throughput", IPTOS_THROUGHPUT},
                          {"reliability", IPTOS_RELIABILITY},
                          {"mincost", IPTOS_MINCOST}};

}  // namespace

bool get_timeval(ErlNifEnv* env, ERL_NIF_TERM term, timeval* to) {
  ERL_NIF_TERM sec, usec;
  ErlNifSInt64 seconds, microseconds;
  if (!get_field(env, term, "sec", &sec) || !get_field(env, term, "usec", &usec)) return false;
  if (!enif_get_int64(env, sec, &seconds) || !enif_get_int64(env, usec, &microseconds)) return false;
  *to = {seconds, microseconds};
  return true;
}

ERL_NIF_TERM timeval_term(ErlNifEnv* env, const timeval& time) {
  return map(env, {{atom(env, "sec"), enif_make_int64(env, time.tv_sec)},
                   {atom(env, "usec"), enif_make_int64(env, time.tv_usec)}});
}

bool get_tos(ErlNifEnv* env, ERL_NIF_TERM term, int* to) { return get_named(env, term, kTos, to); }
ERL_NIF_TERM tos_term(ErlNifEnv* env, int tos) { return named_term(env, tos, kTos); }

bool get_native(ErlNifEnv* env, ERL_NIF_TERM term, int* number, const void** bytes, std::size_t* size) {
  ErlNifBinary binary;
  bool is_on;
  if (enif_inspect_binary(env, term, &binary)) {
    *bytes = binary.data;
    *size = binary.size;
    return true;
  }
  if (get_boolean(term, &is_on)) *number = is_on;
  else if (!enif_get_int(env, term, number)) return false;
  *bytes = number;
  *size = sizeof *number;
  return true;
}

}  // namespace vmrun::sockets

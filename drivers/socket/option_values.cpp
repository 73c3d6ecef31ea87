// SPDX-License-Identifier: Apache-2.0
#include "drivers/socket/option_values.hpp"

#include <netinet/ip.h>

#include "drivers/socket/named_numbers.hpp"
#include "drivers/socket/socket.hpp"

namespace vmrun::sockets {
namespace {

constexpr Named kTos[] = {{"lowdelay", IPTOS_LOWDELAY},
                          {"throughput", IPTOS_THROUGHPUT},
                          {"reliability", IPTOS_RELIABILITY},
                          {"mincost", IPTOS_MINCOST}};
// The byte as OTP 29 shows it: the four bits of the service and three of the precedence (RFC 1349),
// and the same byte as a code point of six bits (RFC 2474).
constexpr Named kService[] = {
    {"default", 0}, {"mincost", 1}, {"reliability", 2}, {"throughput", 4}, {"lowdelay", 8}};
constexpr Named kPrecedence[] = {{"routine", 0}};
constexpr Named kCodePoint[] = {{"cs0", 0},   {"le", 1},    {"cs1", 8},   {"af11", 10}, {"af12", 12},
                                {"af13", 14}, {"cs2", 16},  {"af21", 18}, {"af22", 20}, {"af23", 22},
                                {"cs3", 24},  {"af31", 26}, {"af32", 28}, {"af33", 30}, {"cs4", 32},
                                {"af41", 34}, {"af42", 36}, {"af43", 38}, {"cs5", 40},  {"voice_admit", 44},
                                {"nqb", 45},  {"ef", 46},   {"cs6", 48},  {"cs7", 56}};

bool get_service(ErlNifEnv* env, ERL_NIF_TERM term, int* to) {
  ERL_NIF_TERM service_term, precedence_term;
  int service, precedence;
  if (!get_field(env, term, "tos", &service_term) || !get_field(env, term, "precedence", &precedence_term))
    return false;
  if (!get_named(env, service_term, kService, &service) ||
      !get_named(env, precedence_term, kPrecedence, &precedence))
    return false;
  *to = precedence << 5 | service << 1;
  return true;
}

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

bool get_tos(ErlNifEnv* env, ERL_NIF_TERM term, int* to) {
  if (get_named(env, term, kTos, to)) return true;
  if (!settings.names_levels) return false;
  if (get_named(env, term, kCodePoint, to)) return *to <<= 2, true;
  return get_service(env, term, to);
}

ERL_NIF_TERM tos_term(ErlNifEnv* env, int tos) {
  if (!settings.names_levels) {
    const auto named = std::ranges::find(kTos, tos & IPTOS_TOS_MASK, &Named::value);
    return named != std::end(kTos) ? atom(env, named->name) : enif_make_int(env, tos);
  }
  return map(env, {{atom(env, "native"), enif_make_int(env, tos)},
                   {atom(env, "tos"),
                    map(env, {{atom(env, "tos"), named_term(env, tos >> 1 & 15, kService)},
                              {atom(env, "precedence"), named_term(env, tos >> 5 & 7, kPrecedence)}})},
                   {atom(env, "dscp"), named_term(env, tos >> 2 & 63, kCodePoint)}});
}

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

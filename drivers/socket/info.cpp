// SPDX-License-Identifier: Apache-2.0
#include <climits>

#include "drivers/socket/address_terms.hpp"
#include "drivers/socket/named_numbers.hpp"
#include "drivers/socket/socket.hpp"
#include "drivers/socket/socket_natives.hpp"

// The values of socket:info/0,1 and of the switches for debugging.
namespace vmrun::sockets {
namespace {

#define VMRUN_COUNTER_PAIR(name) pairs.emplace_back(atom(env, #name), enif_make_uint64(env, counters.name));
ERL_NIF_TERM counters_term(ErlNifEnv* env, const Counters& counters) {
  Pairs pairs;
  VMRUN_SOCKET_COUNTERS(VMRUN_COUNTER_PAIR)
  if (counters.sendfile) {
    VMRUN_SOCKET_FILE_COUNTERS(VMRUN_COUNTER_PAIR)
  }
  return map(env, pairs);
}
#undef VMRUN_COUNTER_PAIR

/// asks: `accepting` or `connecting`, when processes wait for that.
ERL_NIF_TERM states_term(ErlNifEnv* env, unsigned state, const char* asks) {
  constexpr Named kBefore[] = {{"bound", kBound}, {"listening", kListening}};
  constexpr Named kAfter[] = {
      {"connected", kConnected}, {"selected", kSelected}, {"closing", kClosing}, {"closed", kClosed}};
  std::vector<ERL_NIF_TERM> names;
  const auto add = [&](const auto& table) {
    for (const Named& row : table)
      if (state & static_cast<unsigned>(row.value)) names.push_back(atom(env, row.name));
  };
  add(kBefore);
  if (asks) names.push_back(atom(env, asks));
  add(kAfter);
  return list(env, names);
}

/// normal; {fromfd, Descriptor}; or fromfd when the descriptor itself is used.
ERL_NIF_TERM origin_term(ErlNifEnv* env, const Socket& socket) {
  if (socket.opened_from < 0) return atom(env, "normal");
  const ERL_NIF_TERM fromfd = atom(env, "fromfd");
  return socket.closes_fd ? tuple(env, fromfd, enif_make_int(env, socket.opened_from)) : fromfd;
}

ERL_NIF_TERM size_term(ErlNifEnv* env, const WaitQueue& queue) { return enif_make_uint64(env, queue.size()); }

}  // namespace

namespace native {

ERL_NIF_TERM info_0(ErlNifEnv* env, int, const ERL_NIF_TERM*) {
  Pairs pairs{{atoms::debug, boolean(settings.debug)},
              {atom(env, "socket_debug"), boolean(settings.socket_debug)},
              {atoms::use_registry, boolean(settings.use_registry)},
              {atom(env, "iow"), boolean(settings.counter_wrap)},
              {atom(env, "counters"), open_sockets(env)},
              {atom(env, "iov_max"), enif_make_int(env, IOV_MAX)}};
  if (settings.names_backend) {
    // Distribution by OTP's inet_epmd_socket asks for the name.
    pairs.emplace_back(atom(env, "io_backend"), map(env, {{atom(env, "name"), atom(env, "unix_essio")}}));
    pairs.emplace_back(atom(env, "eei"), boolean(true));  // error terms say more where there is more
  }
  return map(env, pairs);
}

/// (Socket). The protocol is a number; prim_socket knows its name.
ERL_NIF_TERM info_1(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  Socket* of = socket_of(env, a[0]);
  if (!of) return enif_make_badarg(env);
  const Socket& socket = *of;
  std::scoped_lock lock(of->read_mutex, of->write_mutex);
  const bool is_open = socket.can_read();
  return map(
      env,
      {{atoms::domain, domain_term(env, socket.domain)},
       {atoms::type, type_term(env, socket.type)},
       {atoms::protocol, enif_make_int(env, socket.protocol)},
       {atom(env, "ctype"), origin_term(env, socket)},
       {atom(env, "owner"),
        socket.read_state & kClosed ? atoms::undefined : enif_make_pid(env, &socket.owner)},
       {atom(env, "counters"), counters_term(env, socket.counters)},
       {atom(env, "num_readers"), size_term(env, socket.readers)},
       {atom(env, "num_acceptors"), size_term(env, socket.acceptors)},
       {atom(env, "num_writers"), size_term(env, socket.writers)},
       {atom(env, "rstates"),
        states_term(env, socket.read_state, is_open && !socket.acceptors.empty() ? "accepting" : nullptr)},
       {atom(env, "wstates"), states_term(env, socket.write_state,
                                          is_open && !socket.connectors.empty() ? "connecting" : nullptr)}});
}

/// (#{command := debug | socket_debug | use_registry, data := boolean()}): ok
ERL_NIF_TERM command_1(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  ERL_NIF_TERM command, data;
  bool is_on;
  if (!get_field(env, a[0], "command", &command) || !get_field(env, a[0], atoms::data, &data))
    return enif_make_badarg(env);
  std::atomic<bool>* setting = command == atoms::debug                ? &settings.debug
                               : command == atom(env, "socket_debug") ? &settings.socket_debug
                               : command == atoms::use_registry       ? &settings.use_registry
                                                                      : nullptr;
  if (!setting) return raise_invalid(env, tuple(env, atom(env, "command"), command));
  if (!get_boolean(data, &is_on)) return raise_invalid(env, tuple(env, atoms::data, data));
  *setting = is_on;
  return atoms::ok;
}

}  // namespace native
}  // namespace vmrun::sockets

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "drivers/socket/socket.hpp"

/// Options of the level `otp`, which belong to Erlang's socket and not to the system's.
namespace vmrun::sockets {

/// Returns ok, {error, Reason} or {invalid, value}; raises for an option that cannot be set.
ERL_NIF_TERM set_otp_option(ErlNifEnv* env, Socket& socket, int option, ERL_NIF_TERM value);
/// Returns {ok, Value}, {error, closed} or {invalid, socket_option}.
ERL_NIF_TERM get_otp_option(ErlNifEnv* env, Socket& socket, int option);

}  // namespace vmrun::sockets

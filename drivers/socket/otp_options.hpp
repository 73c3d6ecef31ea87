#pragma once

#include "drivers/socket/socket.hpp"

/// Options of the level `otp`: of the socket as a thing of Erlang.
namespace vmrun::sockets {

/// ok, {error, Reason}, {invalid, value}; raises for an option that cannot be set.
ERL_NIF_TERM set_otp_option(ErlNifEnv* env, Socket& socket, int option, ERL_NIF_TERM value);
/// {ok, Value}, {error, closed}, {invalid, socket_option}
ERL_NIF_TERM get_otp_option(ErlNifEnv* env, Socket& socket, int option);

}  // namespace vmrun::sockets

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/time.h>

#include "vm/include/erl_nif.h"

/// Values that occur in options and in control messages.
namespace vmrun::sockets {

/// #{sec, usec}
bool get_timeval(ErlNifEnv* env, ERL_NIF_TERM term, timeval* to);
ERL_NIF_TERM timeval_term(ErlNifEnv* env, const timeval& time);
/// lowdelay, throughput, reliability, mincost, or a number.
bool get_tos(ErlNifEnv* env, ERL_NIF_TERM term, int* to);
ERL_NIF_TERM tos_term(ErlNifEnv* env, int tos);
/// Reads a number or a boolean as an int, or a binary unchanged; returns false for anything else.
/// *size: its number of bytes.
bool get_native(ErlNifEnv* env, ERL_NIF_TERM term, int* number, const void** bytes, std::size_t* size);

}  // namespace vmrun::sockets

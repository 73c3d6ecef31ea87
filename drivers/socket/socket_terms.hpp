// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "vm/include/erl_nif.h"

/// Terms for the results of the sockets' native functions. All are made in the environment of a
/// call, by the thread that runs it.
namespace vmrun::sockets {

/// Atoms that are used on every path; others are made by name where they are needed.
#define VMRUN_SOCKET_ATOMS(X) \
  X(ok)                       \
  X(error)                    \
  X(select)                   \
  X(abort)                    \
  X(closed)                   \
  X(invalid)                  \
  X(state)                    \
  X(undefined)                \
  X(zero)                     \
  X(more)                     \
  X(iov)                      \
  X(addr)                     \
  X(ctrl)                     \
  X(flags)                    \
  X(family)                   \
  X(port)                     \
  X(path)                     \
  X(any)                      \
  X(loopback)                 \
  X(broadcast)                \
  X(value)                    \
  X(data)                     \
  X(level)                    \
  X(type)                     \
  X(socket)                   \
  X(sockaddr)                 \
  X(socket_option)            \
  X(inet)                     \
  X(inet6)                    \
  X(local)                    \
  X(unspec)                   \
  X(flowinfo)                 \
  X(scope_id)                 \
  X(otp)                      \
  X(domain)                   \
  X(protocol)                 \
  X(debug)                    \
  X(add)                      \
  X(del)                      \
  X(registry)                 \
  X(use_registry)             \
  X(name)

namespace atoms {
#define VMRUN_DECLARE_ATOM(name) inline ERL_NIF_TERM name;
VMRUN_SOCKET_ATOMS(VMRUN_DECLARE_ATOM)
#undef VMRUN_DECLARE_ATOM
inline ERL_NIF_TERM socket_tag;  // '$socket'
inline ERL_NIF_TERM true_, false_;
}  // namespace atoms

/// Called once, before anything else.
void make_atoms(ErlNifEnv* env);

inline ERL_NIF_TERM atom(ErlNifEnv* env, const char* name) { return enif_make_atom(env, name); }
inline ERL_NIF_TERM boolean(bool b) { return b ? atoms::true_ : atoms::false_; }
bool get_boolean(ERL_NIF_TERM term, bool* value);

template <class... Elements>
ERL_NIF_TERM tuple(ErlNifEnv* env, Elements... elements) {
  return enif_make_tuple(env, sizeof...(elements), elements...);
}

using Pairs = std::vector<std::pair<ERL_NIF_TERM, ERL_NIF_TERM>>;
/// The keys must be different.
ERL_NIF_TERM map(ErlNifEnv* env, const Pairs& pairs);
ERL_NIF_TERM list(ErlNifEnv* env, const std::vector<ERL_NIF_TERM>& elements);
ERL_NIF_TERM binary(ErlNifEnv* env, const void* bytes, std::size_t size);
/// Returns the value of an atom key. Returns false when the term is not a map or does not have the
/// key.
bool get_field(ErlNifEnv* env, ERL_NIF_TERM map, ERL_NIF_TERM key, ERL_NIF_TERM* value);
bool get_field(ErlNifEnv* env, ERL_NIF_TERM map, const char* key, ERL_NIF_TERM* value);

inline ERL_NIF_TERM ok(ErlNifEnv* env, ERL_NIF_TERM value) { return tuple(env, atoms::ok, value); }
inline ERL_NIF_TERM error(ErlNifEnv* env, ERL_NIF_TERM reason) { return tuple(env, atoms::error, reason); }
/// The name of an errno, as an atom: econnrefused.
ERL_NIF_TERM posix(ErlNifEnv* env, int number);
inline ERL_NIF_TERM posix_error(ErlNifEnv* env, int number) { return error(env, posix(env, number)); }
inline ERL_NIF_TERM closed(ErlNifEnv* env) { return error(env, atoms::closed); }
/// {invalid, What}: prim_socket says which of its arguments that is.
inline ERL_NIF_TERM invalid(ErlNifEnv* env, ERL_NIF_TERM what) { return tuple(env, atoms::invalid, what); }
/// {error, {invalid, state}}: another operation is under way.
inline ERL_NIF_TERM busy(ErlNifEnv* env) { return error(env, invalid(env, atoms::state)); }
/// The poller has refused the descriptor.
inline ERL_NIF_TERM select_failed(ErlNifEnv* env) { return error(env, atom(env, "select_failed")); }
/// Raises an exception: the caller breaks the rules of these calls.
inline ERL_NIF_TERM raise_invalid(ErlNifEnv* env, ERL_NIF_TERM what) {
  return enif_raise_exception(env, invalid(env, what));
}

}  // namespace vmrun::sockets

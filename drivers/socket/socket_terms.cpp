// SPDX-License-Identifier: Apache-2.0
#include "drivers/socket/socket_terms.hpp"

#include <cstring>

#include "vm/include/erl_driver.h"

namespace vmrun::sockets {

void make_atoms(ErlNifEnv* env) {
#define VMRUN_MAKE_ATOM(name) atoms::name = enif_make_atom(env, #name);
  VMRUN_SOCKET_ATOMS(VMRUN_MAKE_ATOM)
#undef VMRUN_MAKE_ATOM
  atoms::socket_tag = enif_make_atom(env, "$socket");
  atoms::true_ = enif_make_atom(env, "true");
  atoms::false_ = enif_make_atom(env, "false");
}

bool get_boolean(ERL_NIF_TERM term, bool* value) {
  *value = term == atoms::true_;
  return *value || term == atoms::false_;
}

ERL_NIF_TERM map(ErlNifEnv* env, const Pairs& pairs) {
  std::vector<ERL_NIF_TERM> keys, values;
  for (const auto& [key, value] : pairs) {
    keys.push_back(key);
    values.push_back(value);
  }
  ERL_NIF_TERM made = 0;
  enif_make_map_from_arrays(env, keys.data(), values.data(), keys.size(), &made);
  return made;
}

ERL_NIF_TERM list(ErlNifEnv* env, const std::vector<ERL_NIF_TERM>& elements) {
  return enif_make_list_from_array(env, elements.data(), static_cast<unsigned>(elements.size()));
}

ERL_NIF_TERM binary(ErlNifEnv* env, const void* bytes, std::size_t size) {
  ERL_NIF_TERM made;
  unsigned char* to = enif_make_new_binary(env, size, &made);
  if (size) std::memcpy(to, bytes, size);
  return made;
}

bool get_field(ErlNifEnv* env, ERL_NIF_TERM map, ERL_NIF_TERM key, ERL_NIF_TERM* value) {
  return enif_is_map(env, map) && enif_get_map_value(env, map, key, value);
}

bool get_field(ErlNifEnv* env, ERL_NIF_TERM map, const char* key, ERL_NIF_TERM* value) {
  return get_field(env, map, enif_make_atom(env, key), value);
}

ERL_NIF_TERM posix(ErlNifEnv* env, int number) { return enif_make_atom(env, erl_errno_id(number)); }

}  // namespace vmrun::sockets

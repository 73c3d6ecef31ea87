// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>

#include "drivers/socket/socket_terms.hpp"
#include "vm/base/release.hpp"

/// The system's numbers that have names in Erlang. A number without a name stays a number.
namespace vmrun::sockets {

struct Named {
  const char* name;
  int value;
};

/// How the release knows a name of release.tab's group: not at all, as one that is not supported,
/// or as every other name.
enum class Known { kNo, kByName, kYes };
inline Known known(std::string_view group, std::string_view name) {
  const auto later = std::ranges::find_if(
      kLaterSocketNames, [=](const auto& row) { return row.group == group && row.name == name; });
  if (later == std::end(kLaterSocketNames) || later->since <= release_number) return Known::kYes;
  return later->is_listed ? Known::kByName : Known::kNo;
}

template <std::size_t N>
bool get_named(ErlNifEnv* env, ERL_NIF_TERM term, const Named (&table)[N], int* to) {
  if (enif_get_int(env, term, to)) return true;
  if (!enif_is_atom(env, term)) return false;
  for (const Named& row : table)
    if (atom(env, row.name) == term) return *to = row.value, true;
  return false;
}

template <std::size_t N>
ERL_NIF_TERM named_term(ErlNifEnv* env, int value, const Named (&table)[N]) {
  for (const Named& row : table)
    if (row.value == value) return atom(env, row.name);
  return enif_make_int(env, value);
}

}  // namespace vmrun::sockets

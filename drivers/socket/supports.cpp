// SPDX-License-Identifier: Apache-2.0
#include <netdb.h>

#include <algorithm>
#include <mutex>

#include "drivers/socket/control_message.hpp"
#include "drivers/socket/ioctl_table.hpp"
#include "drivers/socket/option_table.hpp"
#include "drivers/socket/socket.hpp"
#include "drivers/socket/socket_natives.hpp"

// What is supported: the tables by which prim_socket translates names to numbers.
namespace vmrun::sockets {
namespace {

/// group: that of the names in release.tab.
ERL_NIF_TERM names_term(ErlNifEnv* env, const char* group, std::span<const Named> table) {
  std::vector<ERL_NIF_TERM> rows;
  for (const Named& row : table)
    if (known(group, row.name) != Known::kNo)
      rows.push_back(tuple(env, atom(env, row.name), enif_make_int(env, row.value)));
  return list(env, rows);
}

/// [{Name, Number} | Name], the latter for options that are not supported.
ERL_NIF_TERM level_term(ErlNifEnv* env, const OptionLevel& level) {
  std::vector<ERL_NIF_TERM> rows;
  for (const Option& option : level.options) {
    const Known how = known(level.name, option.name);
    if (how == Known::kNo) continue;
    const ERL_NIF_TERM name = atom(env, option.name);
    rows.push_back(option.kind && how == Known::kYes ? tuple(env, name, enif_make_int(env, option.number))
                                                     : name);
  }
  return list(env, rows);
}

/// [{socket | Protocol, [{Name, Number} | Name]}], or [{LevelName, Level, [...]}].
ERL_NIF_TERM options_term(ErlNifEnv* env) {
  std::vector<ERL_NIF_TERM> levels;
  for (const OptionLevel& level : option_levels()) {
    if (settings.names_levels) {
      levels.push_back(
          tuple(env, atom(env, level.name), enif_make_int(env, level.number), level_term(env, level)));
      continue;
    }
    const ERL_NIF_TERM name = level.number == SOL_SOCKET ? atoms::socket : enif_make_int(env, level.number);
    levels.push_back(tuple(env, name, level_term(env, level)));
  }
  return list(env, levels);
}

ERL_NIF_TERM protocol_term(ErlNifEnv* env, const protoent& entry) {
  std::vector<ERL_NIF_TERM> names;
  for (char** alias = entry.p_aliases; *alias; ++alias) names.push_back(atom(env, *alias));
  names.push_back(atom(env, entry.p_name));
  std::reverse(names.begin(), names.end());
  return tuple(env, list(env, names), enif_make_int(env, entry.p_proto));
}

/// [{[Name], Number}] of the protocols in /etc/protocols, and always of those that have options. If
/// two have the same number the last one counts, as the first of the file, because the list is
/// reversed; since OTP 29 the names of all count, the first ones first. So `ip` is at its beginning
/// too.
ERL_NIF_TERM protocols_term(ErlNifEnv* env) {
  static constexpr Named kAlways[] = {{"ip", IPPROTO_IP},
                                      {"ipv6", IPPROTO_IPV6},
                                      {"tcp", IPPROTO_TCP},
                                      {"udp", IPPROTO_UDP},
                                      {"sctp", IPPROTO_SCTP}};
  static std::mutex database;  // of the C library, which has one position for all threads
  std::lock_guard lock(database);
  std::vector<ERL_NIF_TERM> rows;
  std::vector<int> numbers;
  setprotoent(0);
  protoent entry, *found;
  char strings[4096];
  while (getprotoent_r(&entry, strings, sizeof strings, &found) == 0 && found) {
    rows.push_back(protocol_term(env, entry));
    numbers.push_back(entry.p_proto);
  }
  endprotoent();
  for (const Named& row : kAlways)
    if (row.value == IPPROTO_IP || std::find(numbers.begin(), numbers.end(), row.value) == numbers.end())
      rows.push_back(tuple(env, list(env, {atom(env, row.name)}), enif_make_int(env, row.value)));
  std::reverse(rows.begin(), rows.end());
  return list(env, rows);
}

}  // namespace

namespace native {

ERL_NIF_TERM supports_0(ErlNifEnv* env, int, const ERL_NIF_TERM*) {
  std::vector<ERL_NIF_TERM> rows;
  for (const char* name : {"sctp", "ipv6", "local", "netns", "sendfile"})
    rows.push_back(tuple(env, atom(env, name), atoms::true_));
  return list(env, rows);
}

/// (protocols | options | ioctl_requests | ioctl_flags | msg_flags)
ERL_NIF_TERM supports_1(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  if (a[0] == atom(env, "options")) return options_term(env);
  if (a[0] == atom(env, "protocols")) return protocols_term(env);
  if (a[0] == atom(env, "ioctl_requests")) return names_term(env, "ioctl_request", ioctl_requests());
  if (a[0] == atom(env, "ioctl_flags")) return names_term(env, "ioctl_flag", interface_flags());
  if (a[0] == atom(env, "msg_flags")) return names_term(env, "msg_flag", message_flags());
  return enif_make_list(env, 0);
}

}  // namespace native
}  // namespace vmrun::sockets

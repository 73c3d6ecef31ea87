// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/kept_flags.hpp"

#include <cctype>
#include <cstring>
#include <filesystem>
#include <string_view>

#include <fmt/core.h>

namespace vmrun::cli {
namespace {

struct Row {
  const char* name;
  int values;
  const char* shown;  // how --help shows the values
  const char* help;   // nullptr: accepted, not shown
};

constexpr Row kRows[] = {
    {"-sname", 1, "NAME", "be a node of this name, among nodes with short names (docs/nodes.md)"},
    {"-name", 1, "NAME", "be a node of this name, among nodes with fully qualified names"},
    {"-setcookie", 1, "[NODE] COOKIE",
     "the cookie that nodes must know to connect, instead of ~/.erlang.cookie; with NODE: for that node "
     "only"},
    {"-hidden", 0, "", "connect to other nodes without appearing in their nodes()"},
    {"-connect_all", 1, "false", "do not connect to all nodes to which other nodes are connected"},
    {"-dist_listen", 1, "false", "let no node connect to this one"},
    {"-proto_dist", 1, "MODULE",
     "the module that carries connections: inet6_tcp, inet_tls… (default inet_tcp)"},
    {"-epmd_module", 1, "MODULE", "the module that finds other nodes (default erl_epmd)"},
    {"-start_epmd", 1, "false", "do not start epmd, the service of names, when it does not run"},
    {"-erl_epmd_port", 1, "PORT", "all nodes listen on this port, and epmd is not asked"},
    {"-epmd_port", 1, "PORT", nullptr},
    {"-no_epmd", 0, "", nullptr},
    {"-nocookie", 0, "", nullptr},
    {"-vmtrace", 1, "off", "other nodes of the cluster may not trace this one (vmtrace --node)"},
    {"-progname", 1, "PROGRAM",
     "the program that peer and slave start for another node (default: this program)"},
    {"-kernel", 2, "KEY VALUE...",
     "parameters of the library, each VALUE a term: inet_dist_listen_min, net_ticktime… (docs/nodes.md)"},
    {"-config", 1, "FILE", "parameters of applications: a list in FILE.config, as in config(4)"},
    {"-ssl_dist_opt", 2, "KEY VALUE...",
     "options of TLS, with -proto_dist inet_tls: server_certfile, client_verify…"},
    {"-ssl_dist_optfile", 1, "FILE", "a file with such options, which replaces them"},
};

const Row* find(const char* word) {
  for (const Row& row : kRows)
    if (std::strcmp(word, row.name) == 0) return &row;
  return nullptr;
}

// erl takes all words up to the next flag. Here the script may follow, so a word belongs to the
// flag before it if it is neither a flag nor a file. The value of a key may be the name of a file.

bool is_word(int argc, const char* const* argv, int i) { return i < argc && argv[i][0] != '-'; }

bool is_value(int argc, const char* const* argv, int i) {
  return is_word(argc, argv, i) && !std::filesystem::exists(argv[i]);
}

bool is_key(int argc, const char* const* argv, int i) {
  if (!is_value(argc, argv, i) || !std::islower(static_cast<unsigned char>(argv[i][0]))) return false;
  for (const char c : std::string_view(argv[i]))
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') return false;
  return true;
}

/// Counts the words that belong to the flag beyond the values that it always has.
int more_values(const Row& row, int argc, const char* const* argv, int i) {
  if (!std::strcmp(row.name, "-setcookie"))
    return std::strchr(argv[i - 1], '@') && is_value(argc, argv, i) ? 1 : 0;
  int more = 0;
  while (row.values == 2 && is_key(argc, argv, i + more) && is_word(argc, argv, i + more + 1)) more += 2;
  return more;
}

}  // namespace

bool keep_flag(int argc, const char* const* argv, int* i, std::vector<KeptFlag>* kept, std::string* error) {
  const Row* row = find(argv[*i]);
  if (!row) return false;
  int values = row->values;
  if (*i + values >= argc) {
    *error = fmt::format("flag {} needs a value: {} {}", row->name, row->name, row->shown);
    return true;
  }
  values += more_values(*row, argc, argv, *i + values + 1);
  kept->push_back({row->name + 1, std::vector<std::string>(argv + *i + 1, argv + *i + 1 + values)});
  *i += values;
  return true;
}

std::vector<std::string_view> kept_flag_names() {
  std::vector<std::string_view> names;
  for (const Row& row : kRows) names.emplace_back(row.name);
  return names;
}

bool is_kept_flag(const char* word) { return find(word) != nullptr; }

std::string kept_flags_help() {
  std::string text;
  for (const Row& row : kRows)
    if (row.help) text += fmt::format("  {:<20} {}\n", fmt::format("{} {}", row.name, row.shown), row.help);
  return text;
}

}  // namespace vmrun::cli

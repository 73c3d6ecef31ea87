// SPDX-License-Identifier: Apache-2.0
#include "probes/vmtrace/node_transport.hpp"

#include <filesystem>

#include <fmt/format.h>

namespace vmrun::d {
namespace {

std::string quoted(const std::string& word) {
  std::string out = "'";
  for (const char c : word)
    if (c == '\'') out += "'\\''";
    else out += c;
  return out += '\'';
}

/// Returns the machine's program, which is installed and built beside vmtrace.
std::string machine_program() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / "vmrun";
}

}  // namespace

// Standard output belongs to the connection, so the machine's own output goes to standard error.
std::string node_transport(const std::string& node, const std::string& cookie) {
  const bool has_long_name = node.find('.', node.find('@')) != std::string::npos;
  return fmt::format(
      "{} -noinput -hidden {} undefined@{} {} embedded:vmrun_trace_node {} 3<&0 4>&1 1>&2 </dev/null",
      quoted(machine_program()), has_long_name ? "-name" : "-sname", quoted(node.substr(node.find('@') + 1)),
      cookie.empty() ? "" : "-setcookie " + quoted(cookie), quoted(node));
}

}  // namespace vmrun::d

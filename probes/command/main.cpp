// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include <fmt/format.h>

#include "probes/command/view_command.hpp"
#include "probes/vmtrace/tracing.hpp"
#include "vm/base/standard_files.hpp"

// vmtrace: D scripts on a running machine, and ready-made views of it. docs/vmtrace.1 is its manual
// page.
namespace vmrun::d {
namespace {

std::string all_help() {
  return help_text() + "\nready-made views (vmtrace NAME --help says more):\n" + list_of_views();
}

int dtrace_command(const std::vector<std::string>& words) {
  CommandLine line;
  std::string why;
  if (!read_command_line(words, line, why)) fail(why + "\n" + usage_text(), kUsage);
  if (line.help) return std::fputs(all_help().c_str(), stdout), 0;
  if (line.version) return std::puts("vmtrace: vmrun " VMRUN_VERSION), 0;
  if (!line.relay.empty()) return relay(line);
  const std::vector<Source> sources = sources_of(line);
  if (sources.empty() && !line.list) fail("no probes specified\n" + usage_text(), kUsage);
  return trace(line, sources, nullptr);
}

/// A first word that is not an option names a view. Arguments of a script stand behind -s or -n.
int command(const std::vector<std::string>& words) {
  if (words.empty() || words[0].empty() || words[0][0] == '-') return dtrace_command(words);
  if (const ViewInfo* view = find_view(words[0]))
    return view_command(*view, {words.begin() + 1, words.end()});
  const std::string_view meant = view_like(words[0]);
  fail(fmt::format("there is no view {}{}\n\n{}", words[0],
                   meant.empty() ? "" : fmt::format("; did you mean {}?", meant),
                   "ready-made views:\n" + list_of_views()),
       kUsage);
}

int main_of_command(const std::vector<std::string>& words) {
  try {
    return command(words);
  } catch (const Failed& failed) {
    return failed.status;
  }
}

}  // namespace
}  // namespace vmrun::d

int main(int argc, char** argv) {
  vmrun::fill_standard_files();
  return vmrun::d::main_of_command({argv + 1, argv + argc});
}

// SPDX-License-Identifier: Apache-2.0
#include "probes/command/view_command.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "probes/views/machines.hpp"
#include "probes/views/view.hpp"
#include "probes/vmtrace/tracing.hpp"

namespace vmrun::d {
namespace {

/// Chooses the machine when neither -p nor -c is given and there is only one.
void choose_machine(Settings& settings) {
  if (names_target(settings.line)) return;
  const std::vector<Machine> machines = running_machines();
  if (machines.empty()) fail("no vmrun of yours is running; -p PID or -c CMD says what to trace", kUsage);
  if (machines.size() > 1) {
    std::string list = fmt::format("{} machines are running; -p PID says which:", machines.size());
    for (const Machine& m : machines) list += fmt::format("\n  -p {:<8} {}", m.pid, m.command);
    fail(list, kUsage);
  }
  std::fputs(fmt::format("vmtrace: tracing pid {}: {}\n", machines[0].pid, machines[0].command).c_str(),
             stderr);
  settings.line.pids.push_back(std::to_string(machines[0].pid));
}

std::string words_of_target(const CommandLine& line) {
  std::string text;
  for (const std::string& pid : line.pids) text += (text.empty() ? "pid " : ", pid ") + pid;
  for (const auto* commands : {&line.commands, &line.ways, &line.nodes})
    for (const std::string& command : *commands) text += (text.empty() ? "" : ", ") + command;
  return text;
}

/// Finds out whether the output is a screen, and how large that is.
void look_at_output(Settings& settings) {
  settings.target = words_of_target(settings.line);
  const char* kind = std::getenv("TERM");
  if (!settings.line.output.empty() || isatty(STDOUT_FILENO) == 0) return;
  if (kind == nullptr || std::strcmp(kind, "dumb") == 0) return;
  settings.terminal = true;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return;
  settings.width = size.ws_col;
  settings.height = size.ws_row;
}

}  // namespace

int view_command(const ViewInfo& view, const std::vector<std::string>& words) {
  Settings settings;
  std::string why;
  if (!read_settings(view, words, settings, why))
    fail(fmt::format("{}\nvmtrace {} --help lists the options", why, view.name), kUsage);
  if (settings.help) return std::fputs(help_of(view).c_str(), stdout), 0;
  const std::string script = script_of(settings), script_name = chosen_script(settings).name;
  if (settings.show_script) return std::fputs(script.c_str(), stdout), 0;
  choose_machine(settings);
  look_at_output(settings);
  CommandLine line = settings.line;
  const std::unique_ptr<View> shows = make_view(std::move(settings));
  if (shows == nullptr) fail(fmt::format("{}: nobody shows {}", view.name, view.shown));
  line.replaces = !shows->file().empty();
  if (line.replaces && line.output.empty() && isatty(STDOUT_FILENO) != 0) line.output = shows->file();
  return trace(line, {{Source::Kind::kFile, script_name, script}}, shows.get());
}

}  // namespace vmrun::d

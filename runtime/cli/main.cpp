// SPDX-License-Identifier: Apache-2.0
// vmrun: compiles or loads a script and runs it on the machine.

#include <cstdio>
#include <string>
#include <variant>

#include <unistd.h>

#include "probes/probe_notes.hpp"
#include "probes/probes.hpp"
#include "runtime/bif/bifs_generated.hpp"
#include "runtime/bif/system_mode.hpp"
#include "runtime/cli/boot.hpp"
#include "runtime/cli/code_finder.hpp"
#include "runtime/cli/options.hpp"
#include "runtime/cli/otp_commands.hpp"
#include "runtime/cli/system.hpp"
#include "runtime/cli/without_script.hpp"
#include "runtime/code_path/installed_otp.hpp"
#include "runtime/connect.hpp"
#include "vm/base/allocate.hpp"
#include "vm/base/signal_stack.hpp"
#include "vm/base/standard_files.hpp"

namespace vmrun::cli {
namespace {

constexpr int kUsageStatus = 2, kBrokenScriptStatus = 1;

int complain(const std::string& message) {
  std::fprintf(stderr, "vmrun: %s\n", message.c_str());
  return kUsageStatus;
}

std::string own_path() {
  char path[4096];
  const ssize_t n = ::readlink("/proc/self/exe", path, sizeof path);
  return std::string(path, n > 0 ? static_cast<std::size_t>(n) : 0);
}

int list_probes() {
  std::vector<probe::ProbeNote> notes;
  std::string error;
  if (!probe::read_probe_notes(own_path().c_str(), notes, error)) return complain(error);
  if (notes.empty()) {
    std::fputs(probe::kCompiledIn ? "vmrun: this binary has no notes of probes: stripped, or its probes are "
                                    "of the native DTrace, which lists them\n"
                                  : "vmrun: this binary has no probes: it was built with -Dprobes=none\n",
               stderr);
    return 1;
  }
  std::fputs(probe::format_probe_notes(own_path().c_str(), notes).c_str(), stdout);
  return 0;
}

compile::CompileOptions compile_options(const Options& o) {
  compile::CompileOptions c;
  c.include_path = o.include_dirs;
  c.library_path = o.code_paths;
  c.otp_root = o.otp_root;
  c.colours = compile::wants_colours(STDERR_FILENO);
  for (const std::string& d : o.defines) {
    const std::size_t eq = d.find('=');
    c.macros.emplace_back(d.substr(0, eq), eq == std::string::npos ? "true" : d.substr(eq + 1));
  }
  return c;
}

/// Prints the script's code at a stage of the compiler or of the loader.
int print_stage(const Options& o) {
  compile::CompileOptions c = compile_options(o);
  c.want_core = o.action == Action::kPrintCore;
  c.want_ssa = o.action == Action::kPrintSsa;
  c.want_assembly = o.action == Action::kPrintAssembly;
  if (const int release = installed_release(o.otp_root)) c.release = release;
  const CodeFinder finder({}, c);
  const FoundCode code = finder.load_file(o.script, /*script=*/true);
  std::fputs(code.messages.c_str(), stderr);
  if (code.kind != FoundCode::Kind::kCode) return kBrokenScriptStatus;
  if (o.action == Action::kPrintLoaded) return print_loaded(code);
  if (code.listing.empty())
    return complain("'" + o.script + "' is compiled already: -loaded shows what it becomes");
  std::fputs(code.listing.c_str(), stdout);
  return 0;
}

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// Returns the code path at the start of a program.
std::vector<std::string> initial_path(const Options& o) {
  std::vector<std::string> path;
  if (!o.script.empty() && !o.script.starts_with(kEmbeddedLibrary)) path.push_back(directory_of(o.script));
  path.insert(path.end(), o.code_paths.begin(), o.code_paths.end());
  if (o.script.empty()) path.emplace_back(".");
  path.emplace_back(kEmbeddedLibrary);
  if (!o.otp_root.empty())
    for (const OtpApplication& application : otp_applications(o.otp_root))
      if (std::string code = application.directory + "/ebin"; ::access(code.c_str(), R_OK | X_OK) == 0)
        path.push_back(std::move(code));
  path.insert(path.end(), o.late_code_paths.begin(), o.late_code_paths.end());
  return path;
}

int run(Options& o) {
  std::string error;
  o.otp_root = find_otp_root(o.otp_root, &error);
  if (!error.empty()) return complain(error);
  compile::CompileOptions compiling = compile_options(o);
  if (o.otp_root.empty()) compiling.otp_root = "none";  // already searched for
  CodeFinder finder(initial_path(o), std::move(compiling));
  FinderSource source(finder);
  return boot(o, source, [&](Heap& heap) { return begin_script(o, finder, heap); });
}

/// Returns the part behind the last slash.
std::string_view command_name(const char* path) {
  const std::string_view whole = path;
  return whole.substr(whole.rfind('/') + 1);
}

}  // namespace
}  // namespace vmrun::cli

int main(int argc, char** argv) {
  using namespace vmrun::cli;
  vmrun::connect_runtime();
  vmrun::fill_standard_files();
  const vmrun::SignalStack for_handlers;
  const std::string_view name = argc > 0 ? command_name(argv[0]) : "";
  if (name == kSystemCommand) return run_system(argv[0], {argv + 1, argv + argc});
  if (const OtpCommand* command = find_otp_command(name)) return run_otp_command(*command, argc, argv);
  auto parsed = parse_options(argc, argv);
  if (auto* error = std::get_if<UsageError>(&parsed)) {
    complain(error->message + "\nTry 'vmrun --help'.");
    return kUsageStatus;
  }
  auto& options = std::get<Options>(parsed);
  vmrun::fail_allocation(options.fail_alloc);
  vmrun::emulator_words.assign(argv, argv + argc);
  switch (options.action) {
    case Action::kHelp: std::fputs(help_text().c_str(), stdout); return 0;
    case Action::kVersion: std::puts("vmrun " VMRUN_VERSION); return 0;
    case Action::kListProbes: return list_probes();
    case Action::kPrintCore:
    case Action::kPrintSsa:
    case Action::kPrintAssembly:
    case Action::kPrintLoaded: return print_stage(options);
    case Action::kRun:
      if (options.in_background) detach();
      return run(options);
  }
  return kUsageStatus;
}

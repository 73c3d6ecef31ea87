// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/system.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>
#include <variant>
#include <vector>

#include <unistd.h>

#include <fmt/core.h>

#include "runtime/bif/support.hpp"
#include "runtime/bif/system_mode.hpp"
#include "runtime/cli/boot.hpp"
#include "runtime/cli/erl_command.hpp"
#include "runtime/cli/system_environment.hpp"
#include "runtime/cli/without_script.hpp"
#include "runtime/code_path/installed_otp.hpp"
#include "runtime/lib/embedded.hpp"
#include "vm/base/release.hpp"
#include "vm/base/thread.hpp"
#include "vm/code/instruction_support.hpp"
#include "vm/code/loader.hpp"
#include "vm/term/atom.hpp"

namespace vmrun::cli {
namespace {

constexpr int kUsageStatus = 1;  // erl's
constexpr int kNoSystemStatus = 1;

int complain(const std::string& message) {
  std::fprintf(stderr, "erl: %s\n", message.c_str());
  return kUsageStatus;
}

/// Preloaded modules of OTP that the machine replaces with its own of the same interface, because
/// they call its own drivers and built-in functions.
constexpr std::string_view kOwnPreloaded[] = {"prim_file", "prim_net"};
/// Modules that built-in functions of this machine call, and that OTP's machine does not have.
constexpr std::string_view kCalledByMachine[] = {"ddll_server",  "killing_purge", "passive_monitor",
                                                 "remote_spawn", "vmrun_on_load", "vmrun_trace"};

bool is_own(std::string_view module) {
  return std::ranges::find(kOwnPreloaded, module) != std::end(kOwnPreloaded) ||
         std::ranges::find(kCalledByMachine, module) != std::end(kCalledByMachine);
}

/// Finds nothing, because only OTP's code server loads modules.
class NoSource final : public CodeSource {
 public:
  bool find(std::string_view, std::vector<std::uint8_t>*, std::string*) override { return false; }
  bool in_memory(std::string_view) const override { return true; }
  std::string locate(std::string_view) override { return {}; }
  std::vector<std::string> path() override { return {}; }
  void set_path(std::vector<std::string>) override {}
};

/// A module that is preloaded in OTP's machine.
struct Preloaded {
  explicit Preloaded(std::string n) : name(std::move(n)) {}
  std::string name, file{};
  LoadResult prepared{};
};

/// Called by any thread.
void prepare(Preloaded& p, const std::string& directory) {
  std::vector<std::uint8_t> bytes;
  p.file = p.name;
  if (const EmbeddedModule* own = is_own(p.name) ? find_embedded_module(p.name) : nullptr) {
    p.file = std::string(kEmbeddedLibrary) + p.name;
    p.prepared = prepare_module(own->begin, static_cast<std::size_t>(own->end - own->begin), p.file);
  } else if (read_file(directory + "/" + p.name + ".beam", &bytes, &p.prepared.message)) {
    p.prepared = prepare_module(bytes.data(), bytes.size(), p.file);
  }
}

/// Returns false after reporting an error.
bool publish(const Preloaded& p) {
  const LoadResult loaded = publish_prepared(p.prepared, intern_atom(p.name), p.file);
  if (loaded.module) {
    loaded.module->lines.clear();  // OTP's preloaded modules have no line numbers
    set_module_path(loaded.module->name, "preloaded");
    note_preloaded(loaded.module->name);
    return true;
  }
  complain(loaded.message);
  return false;
}

/// Loads the modules in this thread and, if it can be started, in a second one.
void prepare_all(std::vector<Preloaded>& modules, const std::string& directory) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i; (i = next.fetch_add(1)) < modules.size();) prepare(modules[i], directory);
  };
  std::thread other;
  try {
    other = start_thread("preload", work);
  } catch (const std::system_error&) {  // then alone
  }
  work();
  if (other.joinable()) other.join();
}

/// Loads all of them. Returns false after reporting an error.
bool preload_all(const std::string& root) {
  namespace fs = std::filesystem;
  const std::string directory = otp_preloaded_directory(root);
  std::vector<Preloaded> modules;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error))
    if (it->path().extension() == ".beam") modules.emplace_back(it->path().stem());
  if (error || modules.empty()) {
    complain("no modules of the machine in '" + directory +
             "': an Erlang/OTP is needed with lib/erts-VERSION/ebin");
    return false;
  }
  for (const std::string_view name : kCalledByMachine) modules.emplace_back(std::string(name));
  forget_native_modules();
  std::ranges::sort(modules, {}, &Preloaded::name);
  prepare_all(modules, directory);
  return std::ranges::all_of(modules, publish);
}

/// Begins with erl_init:start(init, [Word]); words are binaries.
std::optional<Beginning> begin_system(const ErlCommand& command, Heap& heap) {
  if (!preload_all(command.options.otp_root)) return {};
  ListBuilder words(heap);
  for (const std::string& word : command.boot) {
    words.add(text_binary(heap, word));
  }
  ListBuilder arguments(heap);
  arguments.add(atoms::init);
  arguments.add(words.finish());
  return Beginning{intern_atom("erl_init"),
                   intern_atom("start"),
                   arguments.finish(),
                   {intern_atom("erts_code_purger"), intern_atom("erts_literal_area_collector")},
                   /*leads_itself=*/true};
}

/// The machine behaves as the installed release does, and programs are told its versions. A release
/// that is newer than all known ones is treated as the newest of these.
void follow_release(const std::string& root) {
  const OtpVersion installed = otp_version_of(root);
  if (installed.release.empty()) return follow_system(otp_release, release_number, erts_version);
  const int number = std::atoi(installed.release.c_str());
  follow_system(installed.release, number, installed.erts);
  if (number > kNewestRelease)
    complain(fmt::format("OTP {} is newer than {}, the newest release that this machine knows",
                         installed.release, kNewestRelease));
}

std::string own_program() {
  std::error_code none;
  return std::filesystem::read_symlink("/proc/self/exe", none).string();
}

/// Returns the machine's words of the command in OTP's spelling, then `--` and the words for init.
std::vector<std::string> command_words(const ErlCommand& command) {
  std::vector<std::string> words = command.machine;
  words.emplace_back("--");
  words.insert(words.end(), command.boot.begin(), command.boot.end());
  return words;
}

void print_command(const ErlCommand& command) {
  const std::string program = own_program();
  const std::vector<std::string> words = command_words(command);
  std::string text;
  switch (command.shown) {
    case Shown::kNothing: break;
    case Shown::kMachine: text = program.substr(program.rfind('/') + 1) + "\n"; break;
    case Shown::kWords:
      for (const std::string& word : words) text += word + "\n";
      break;
    case Shown::kCommand:
      text = fmt::format("Executing: {} {}", program, program);
      for (const std::string& word : words) text += " " + word;
      text += "\n\n";
      break;
    case Shown::kQuotedCommand:
      text = fmt::format("\"{}\" ", program);
      for (const std::string& word : words) text += fmt::format("\"{}\" ", word);
      text += "\n";
      break;
  }
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

/// Replaces this program by `man`, which searches OTP's pages first; returns only when that fails.
int show_manual(const std::vector<std::string>& words) {
  ::setenv("MANSECT", "3erl:1:5:7", 1);
  std::vector<char*> argv{const_cast<char*>("man")};
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execvp("man", argv.data());
  return complain(fmt::format("cannot run 'man': {}", std::strerror(errno)));
}

/// Runs before the node exists. Whether epmd answers is found out when the node registers with it.
void start_epmd(const std::string& command, const std::string& root) {
  namespace fs = std::filesystem;
  std::error_code none;
  const fs::path installed = fs::path(otp_bin_directory(root)) / "epmd";
  const std::string usual =
      fmt::format("\"{}\" -daemon", fs::exists(installed, none) ? installed.string() : "epmd");
  const std::string& wanted = command.empty() ? usual : command;
  if (std::system(wanted.c_str()) == -1)
    std::fprintf(stderr, "erl: cannot start epmd by '%s': %s\n", wanted.c_str(), std::strerror(errno));
}

}  // namespace

int run_system(const std::string& typed, const std::vector<std::string>& words) {
  std::string error;
  const char* given = std::getenv("ROOTDIR");
  // Scripts of releases set ROOTDIR and then ask `erl` for the root, so a folder without a complete
  // OTP is ignored.
  if (given && otp_preloaded_directory(given).empty()) given = nullptr;
  const std::string root = find_otp_root(given ? given : "", &error);
  if (!error.empty()) return complain(error);
  if (root.empty()) {
    complain("no Erlang/OTP is installed where packages put it; VMRUN_OTP names its root");
    return kNoSystemStatus;
  }
  set_system_environment(root, typed);
  follow_release(root);
  auto parsed = parse_erl_command(root, std::string(kSystemCommand), words);
  if (const auto* bad = std::get_if<UsageError>(&parsed)) return complain(bad->message);
  const auto& command = std::get<ErlCommand>(parsed);
  if (command.manual) return show_manual(*command.manual);
  if (command.shown != Shown::kNothing) {
    print_command(command);
    if (command.shown != Shown::kCommand) return 0;
  }
  if (command.options.action == Action::kVersion) {
    std::fprintf(stderr, "Erlang (SMP,ASYNC_THREADS) (vmrun) emulator version %s\n", erts_version.c_str());
    return 0;
  }
  emulator_words = {own_program()};
  const std::vector<std::string> following = command_words(command);
  emulator_words.insert(emulator_words.end(), following.begin(), following.end());
  if (command.epmd) start_epmd(*command.epmd, root);
  if (command.options.in_background) detach();
  use_error_handler_for_all();
  NoSource source;
  return boot(command.options, source, [&](Heap& heap) { return begin_system(command, heap); });
}

}  // namespace vmrun::cli

#include "runtime/cli/erl_command.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "runtime/cli/args_file.hpp"
#include "runtime/cli/erl_flags.hpp"
#include "runtime/code_path/installed_otp.hpp"

namespace vmrun::cli {
namespace {

using Words = std::vector<std::string>;
using Error = std::optional<std::string>;

Words of_environment(const char* name) {
  const char* text = std::getenv(name);
  return text ? words_of(text, false) : Words{};
}

/// The words of the machine that vmrun's own command line would have.
struct MachineFlags {
  Words ours;
  bool in_background = false;
};

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, word) != names.end();
}

/// Whether this is a node, and what is to be done about the service of names, epmd.
struct Node {
  bool is_one = false, wants_epmd = true;
  std::string epmd;  // the command that starts it, if it is not the usual one

  /// words[*i], of which init is told too; but for -epmd and its value, at which *i is left.
  Error take(const Words& words, std::size_t* i, Words* boot) {
    const std::string& word = words[*i];
    if (word == "-no_epmd") wants_epmd = false;
    if (is_one_of(word, {"-sname", "-name", "-start_epmd", "-epmd"})) {
      if (*i + 1 == words.size()) return fmt::format("flag {} needs a value", word);
      const std::string& value = words[*i + 1];
      if (word == "-epmd") {
        epmd = value;
        ++*i;
        return {};
      }
      if (word != "-start_epmd") is_one = true;
      else if (is_one_of(value, {"true", "false"})) wants_epmd = value == "true";
      else return fmt::format("flag -start_epmd is true or false, not '{}'", value);
    }
    boot->push_back(word);
    return {};
  }
};

/// Words from one source: what is the machine's goes to it, the rest to init.
Error divide(const Words& words, MachineFlags* machine, Node* node, Words* boot) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "-extra") {
      boot->insert(boot->end(), words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
      return {};
    }
    if (word == "-emu_args" || word == "-emu_args_exit" || word == "-smp" || word == "-emu_type" ||
        word == "-emu_flavor") {
      if (is_one_of(word, {"-smp", "-emu_type", "-emu_flavor"}) && i + 1 < words.size() &&
          is_one_of(words[i + 1], {"enable", "auto", "disable", "opt", "emu", "jit", "smp"}))
        ++i;
    } else if (word == "-env" && i + 2 < words.size()) {
      ::setenv(words[i + 1].c_str(), words[i + 2].c_str(), 1);
      i += 2;
    } else if (word.size() > 1 && word[0] == '+') {
      if (Error e = take_erl_flag(words, &i, &machine->ours)) return e;
    } else if (is_one_of(word, {"-detached", "-noinput"})) {
      machine->in_background |= word == "-detached";
      boot->insert(boot->end(), {"-noshell", "-noinput"});
    } else if (Error e = node->take(words, &i, boot)) {
      return e;
    }
  }
  return {};
}

}  // namespace

std::variant<ErlCommand, UsageError> parse_erl_command(const std::string& root, const std::string& progname,
                                                       Words words) {
  const char* home = std::getenv("HOME");
  MachineFlags machine;
  Node node;
  Words boot{"-root",  root, "-bindir", otp_bin_directory(root), "-progname",
             progname, "--", "-home",   home ? home : "/",       "--"};
  if (const char* port = std::getenv("ERL_EPMD_PORT")) boot.insert(boot.end(), {"-epmd_port", port, "--"});
  const std::string release_flags = "ERL_OTP" + otp_version_of(root).release + "_FLAGS";
  Words extra;  // comes last, whoever adds to the command line
  if (const auto at = std::ranges::find(words, "-extra"); at != words.end()) {
    extra.assign(at, words.end());
    words.erase(at, words.end());
  }
  // Each source ends with `--`, so that its last flag takes no word of the next.
  for (const Words& source : {of_environment("ERL_AFLAGS"), words, of_environment("ERL_FLAGS"),
                              of_environment(release_flags.c_str()), of_environment("ERL_ZFLAGS"), extra}) {
    Words spread;
    if (Error e = spread_args_files(source, 0, &spread)) return UsageError{*e};
    const std::size_t before = boot.size();
    if (Error e = divide(spread, &machine, &node, &boot)) return UsageError{*e};
    if (boot.size() > before && boot[before] != "-extra") boot.emplace_back("--");
  }

  ErlCommand command;
  const auto flags = parse_machine_flags(machine.ours);
  if (const auto* error = std::get_if<UsageError>(&flags)) return *error;
  command.options = std::get<Options>(flags);
  for (const std::string& word : machine.ours)
    command.machine.push_back(word.starts_with('+') ? "-" + word.substr(1) : word);
  command.options.otp_root = root;
  command.options.in_background = machine.in_background;
  if (node.is_one && node.wants_epmd) command.epmd = node.epmd;
  command.boot = std::move(boot);
  return command;
}

}  // namespace vmrun::cli

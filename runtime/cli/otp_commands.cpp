// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/otp_commands.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>

#include <fmt/core.h>

#include "runtime/cli/system.hpp"

namespace vmrun::cli {
namespace {

using Words = std::vector<std::string>;
using ErlWords = std::variant<Words, UsageError>;

constexpr int kUsageStatus = 1;

void append(Words& words, const Words& more) { words.insert(words.end(), more.begin(), more.end()); }

void set_script_name(const std::string& name) { ::setenv("ESCRIPT_NAME", name.c_str(), 1); }

// ---- escript ----

/// Returns the flags of the line that begins with %%!, if the second or third line of the script
/// does. Only blanks separate the words.
Words flags_in_script(std::ifstream& script) {
  constexpr std::string_view kMark = "%%!";
  std::string line;
  std::getline(script, line);
  for (int i = 0; i < 2 && std::getline(script, line); ++i) {
    if (!line.starts_with(kMark)) continue;
    std::istringstream rest(line.substr(kMark.size()));
    Words flags;
    for (std::string word; rest >> word;) flags.push_back(word);
    return flags;
  }
  return {};
}

/// Words in front of the script are options of OTP's module escript, which expects them without
/// `-`.
ErlWords escript(const std::string&, const Words& given) {
  const auto name = std::ranges::find_if_not(given, [](const std::string& w) { return w.starts_with('-'); });
  if (name == given.end()) return UsageError{"Missing filename\n"};
  std::ifstream script(*name);
  if (!script) return UsageError{"Failed to open file: " + *name};
  set_script_name(*name);
  Words words{"+B", "-boot", "no_dot_erlang", "-noshell"};
  append(words, flags_in_script(script));
  append(words, {"-run", "escript", "start"});
  for (auto option = given.begin(); option != name; ++option) words.push_back(option->substr(1));
  words.emplace_back("-extra");
  words.insert(words.end(), name, given.end());
  return words;
}

// ---- erlc ----

/// Returns the folder of -pa or -pz, from the same word or the next; leaves *i at the last word
/// that it takes.
std::optional<std::string> folder_of(const Words& given, std::size_t* i) {
  constexpr std::size_t kFlagSize = 3;
  if (given[*i].size() > kFlagSize) return given[*i].substr(kFlagSize);
  if (*i + 1 == given.size() || given[*i + 1].starts_with('-')) return {};
  return given[++*i];
}

/// All words except code folders go to OTP's module erl_compile. A compile server is not used: each
/// command compiles by itself, whatever -server and ERLC_USE_SERVER say.
ErlWords erlc(const std::string& typed, const Words& given) {
  set_script_name(typed);
  Words folders, rest;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string& word = given[i];
    if (word.starts_with("-pa") || word.starts_with("-pz")) {
      const std::string flag = word.substr(0, 3);
      const std::optional<std::string> folder = folder_of(given, &i);
      if (!folder) return UsageError{fmt::format("No value given to {} option", flag)};
      folders.insert(folders.begin(), {flag, *folder});
    } else if (word != "-server" && word != "-no-server" && word != "-d" && word != "-smp") {
      rest.push_back(word);
    }
  }
  Words words{"+S1"};  // many commands may run at the same time
  append(words, folders);
  append(words, {"+sbtu", "+A0", "-noinput", "-mode", "minimal", "-boot", "no_dot_erlang", "-s",
                 "erl_compile", "compile_cmdline", "-extra"});
  append(words, rest);
  return words;
}

// ---- dialyzer and typer ----

/// Moves the flag and its value from the front of the words to `out`. Returns false when the flag
/// is not there.
bool take_flag(std::string_view flag, Words* given, Words* out) {
  if (given->size() < 2 || given->front() != flag) return false;
  out->insert(out->end(), given->begin(), given->begin() + 2);
  given->erase(given->begin(), given->begin() + 2);
  return true;
}

/// Standard input is read only with `--shell`, which is removed from the words.
ErlWords analysis(const Words& flags, const std::string& module, const std::string& function, Words given) {
  Words words;
  if (std::erase(given, "--shell") == 0) words.emplace_back("-noinput");
  append(words, flags);
  append(words, {"+B", "-boot", "no_dot_erlang", "-run", module, function, "-extra"});
  append(words, given);
  return words;
}

ErlWords dialyzer(const std::string& typed, const Words& given) {
  set_script_name(typed);
  Words rest = given, flags;
  if (!rest.empty() && rest.front() == "-smp") rest.erase(rest.begin());
  take_flag("+S", &rest, &flags);
  if (!take_flag("+P", &rest, &flags)) append(flags, {"+P", "1000000"});
  take_flag("+sbt", &rest, &flags);
  return analysis(flags, "dialyzer", "plain_cl", rest);
}

ErlWords typer(const std::string& typed, const Words& given) {
  set_script_name(typed);
  Words rest = given;
  if (!rest.empty() && rest.front() == "-smp") rest.erase(rest.begin());
  return analysis({}, "typer", "start", rest);
}

// ---- ct_run ----

/// The words for common_test that say on which node the tests run and what starts there.
struct TestRun {
  std::string name_flag = "-sname", name = "ct";
  Words starts{"-s", "ct_run", "script_start", "-s", "erlang", "halt"};
  Words rest;

  /// Takes such a word. Returns false for any other word.
  bool take(const Words& given, std::size_t* i, bool for_erl) {
    const std::string& word = given[*i];
    const bool has_value = *i + 1 < given.size();
    if ((word == "-sname" || word == "-name") && has_value) {
      name_flag = word;
      name = given[++*i];
      return true;
    }
    if (for_erl) return false;
    if (word == "-shell") {
      starts = {"-s", "ct_run", "script_start"};
    } else if (word == "-ctmaster") {
      name = "ct_master";
      starts.clear();
    } else if (word == "-ctname" && has_value) {
      name = given[*i + 1];
      starts.clear();
    }
    return false;
  }
};

/// Renames flags that `erl` has too to the names that the module ct_run knows.
std::string for_ct_run(const std::string& word) {
  for (const std::string_view taken : {"-config", "-decrypt_key", "-decrypt_file"})
    if (word == taken) return "-ct_" + word.substr(1);
  return word;
}

ErlWords ct_run(const std::string& typed, const Words& given) {
  set_script_name(typed);
  TestRun run;
  bool for_erl = false;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i] == "-erl_args") {
      for_erl = true;
      run.rest.emplace_back("-ct_erl_args");
    } else if (!run.take(given, &i, for_erl)) {
      run.rest.push_back(for_erl ? given[i] : for_ct_run(given[i]));
    }
  }
  Words words{run.name_flag, run.name};
  append(words, run.starts);
  append(words, run.rest);
  return words;
}

constexpr OtpCommand kCommands[] = {
    {"ct_run", nullptr, ct_run},     {"dialyzer", "DIALYZER_EMULATOR", dialyzer},
    {"erlc", "ERLC_EMULATOR", erlc}, {"escript", "ESCRIPT_EMULATOR", escript},
    {"typer", nullptr, typer},
};

int complain(const OtpCommand& command, const std::string& message) {
  std::fprintf(stderr, "%s: %s\n", std::string(command.name).c_str(), message.c_str());
  return kUsageStatus;
}

/// Replaces this program by the other one; returns only when that fails.
int run_other(const OtpCommand& command, const std::string& program, const Words& words) {
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execvp(program.c_str(), argv.data());
  return complain(command,
                  fmt::format("{} names '{}': {}", command.other_erl, program, std::strerror(errno)));
}

}  // namespace

const OtpCommand* find_otp_command(std::string_view name) {
  const auto* found = std::ranges::find(kCommands, name, &OtpCommand::name);
  return found == std::end(kCommands) ? nullptr : found;
}

int run_otp_command(const OtpCommand& command, int argc, const char* const* argv) {
  const auto words = command.erl_words(argv[0], {argv + 1, argv + argc});
  if (const auto* bad = std::get_if<UsageError>(&words)) return complain(command, bad->message);
  const char* other = command.other_erl ? std::getenv(command.other_erl) : nullptr;
  if (other && *other) return run_other(command, other, std::get<Words>(words));
  return run_system(argv[0], std::get<Words>(words));
}

}  // namespace vmrun::cli

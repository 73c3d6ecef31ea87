// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/erl_command.hpp"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "runtime/cli/args_file.hpp"
#include "runtime/cli/erl_flags.hpp"
#include "runtime/code_path/installed_otp.hpp"
#include "vm/base/release.hpp"

namespace vmrun::cli {
namespace {

using Words = std::vector<std::string>;
using Error = std::optional<std::string>;

Words of_environment(const std::string& name) {
  const char* text = std::getenv(name.c_str());
  return text ? words_of(text, false, Backslash::kIsCharacter) : Words{};
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, word) != names.end();
}

// ---- One line of several sources ----

/// Adds the words of the variable and `--`, so that its last flag does not take a word of the next
/// source.
Error add_environment(const std::string& name, SpreadWords* out) {
  const Words words = of_environment(name);
  if (words.empty()) return {};
  if (Error e = spread_args_files(words, 0, out)) return e;
  const bool in_extra = out->ends_in_extra && !release_has(Trait::kStartFlag);
  (in_extra ? out->extra : out->words).emplace_back("--");
  return {};
}

// What the word stands for in a line of all sources, where `-S` may come from a variable too, which
// then means nothing.
constexpr std::string_view kStart = "++S";

/// Since OTP 27, `-S` takes all words behind it, whatever they begin with. The word `--` among them
/// gets a backslash, for init takes `--` as the end of a flag's words.
Words cut_start(Words* typed) {
  if (!release_has(Trait::kStartFlag)) return {};
  const auto stop = std::ranges::find_if(*typed, [](const auto& w) { return w == "-S" || w == "-extra"; });
  if (stop == typed->end() || *stop == "-extra") return {};
  Words start(stop, typed->end());
  typed->erase(stop, typed->end());
  start.front() = kStart;
  std::ranges::replace(start, std::string("--"), std::string("\\--"));
  return start;
}

/// Puts the sources together. If no other source adds words, the command line stays as it was
/// typed, until OTP 26.
Error put_together(Words typed, const std::string& release, Words* line) {
  SpreadWords all;
  const auto add_all = [&](const std::vector<std::string>& names) -> Error {
    for (const std::string& name : names)
      if (Error e = add_environment(name, &all)) return e;
    return {};
  };
  if (Error e = add_all({"ERL_OTP" + release + "_FLAGS", "ERL_AFLAGS"})) return e;
  const std::size_t before = all.words.size() + all.extra.size();
  const bool is_typed = !typed.empty();
  const Words start = cut_start(&typed);
  const auto extra = std::ranges::find(typed, "-extra");
  if (Error e = spread_args_files(typed, 0, &all)) return e;
  const bool is_cut = !start.empty() || (release_has(Trait::kStartFlag) && extra != typed.end());
  if (is_cut) all.words.emplace_back("--");
  if (is_typed) all.words.emplace_back("--");
  const std::size_t after = all.words.size() + all.extra.size();
  if (Error e = add_all({"ERL_FLAGS", "ERL_ZFLAGS"})) return e;
  const bool typed_only = before == 0 && after == all.words.size() + all.extra.size();
  if (typed_only && !release_has(Trait::kStartFlag) &&
      std::find(typed.begin(), extra, "-args_file") == extra) {
    *line = typed;
    return {};
  }
  *line = std::move(all.words);
  if (!all.extra.empty()) line->emplace_back("-extra");
  for (const Words* last : {&std::as_const(all.extra), &start})
    line->insert(line->end(), last->begin(), last->end());
  return {};
}

// ---- The meaning of each word ----

/// Takes one word after the other: the machine's words go to it, the rest to init.
class Division {
 public:
  Division(const Words& line, ErlCommand* command) : line_(line), command_(command) {}

  Error run() {
    for (i_ = 0; i_ < line_.size(); ++i_) {
      if (line_[i_] == "-extra") {
        command_->boot.insert(command_->boot.end(), line_.begin() + static_cast<std::ptrdiff_t>(i_),
                              line_.end());
        break;
      }
      if (line_[i_] == kStart) {
        command_->boot.insert(command_->boot.end(), {"-noshell", "-S"});
        command_->boot.insert(command_->boot.end(), line_.begin() + static_cast<std::ptrdiff_t>(i_) + 1,
                              line_.end());
        break;
      }
      if (Error e = take(line_[i_])) return e;
      if (command_->manual) return {};
    }
    if (is_node_ && wants_epmd_) command_->epmd = epmd_;
    return {};
  }

  const Words& machine() const { return machine_; }
  bool in_background() const { return in_background_; }

 private:
  Error take(const std::string& word) {
    if (word.size() > 1 && word[0] == '+') return take_machine_flag();
    if (word == "-version") {
      add_machine_flag("V");
      return {};
    }
    if (const std::optional<Shown> shown = shown_by(word)) {
      command_->shown = *shown;
      return {};
    }
    if (word == "-env") return take_variable();
    if (word == "-man") {
      command_->manual = Words(line_.begin() + static_cast<std::ptrdiff_t>(i_) + 1, line_.end());
      return {};
    }
    if (word == "-keep_window") return {};
    if (const Words* others = stands_for(word)) {
      in_background_ |= word == "-detached";
      if (word == "-detached" && release_has(Trait::kStartFlag)) command_->boot.push_back(word);
      if (is_one_of(word, {"-compile", "-make"})) add_machine_flag("B");
      command_->boot.insert(command_->boot.end(), others->begin(), others->end());
      if (word == "-make") i_ = line_.size() - 1;  // the words behind it are ignored
      return {};
    }
    if (is_one_of(word, {"-sname", "-name", "-start_epmd", "-epmd", "-proto_dist"}))
      return take_of_node(word);
    // Standard input is a file of the configuration: no shell may read it.
    if (word == "-configfd" && has_value(1) && line_[i_ + 1] == "0")
      command_->boot.insert(command_->boot.end(), {"-noshell", "-noinput"});
    if (Error e = check_kind(word)) return e;
    wants_epmd_ &= word != "-no_epmd";
    command_->boot.push_back(word);
    return {};
  }

  Error take_machine_flag() {
    const std::size_t from = i_;
    if (Error e = take_erl_flag(line_, &i_, &machine_)) return e;
    command_->machine.push_back("-" + line_[from].substr(1));
    for (std::size_t value = from + 1; value <= i_; ++value) command_->machine.push_back(line_[value]);
    return {};
  }

  void add_machine_flag(const std::string& letter) {
    machine_.push_back("+" + letter);
    command_->machine.push_back("-" + letter);
  }

  static std::optional<Shown> shown_by(std::string_view word) {
    if (word == "-emu_args") return Shown::kCommand;
    if (word == "-emu_args_exit") return Shown::kWords;
    if (word == "-emu_qouted_cmd_exit") return Shown::kQuotedCommand;
    if (word == "-emu_name_exit") return Shown::kMachine;
    return {};
  }

  /// Flags that stand for several others.
  static const Words* stands_for(std::string_view word) {
    static const Words no_shell{"-noshell", "-noinput"};
    static const Words compile{"-noshell", "-noinput", "-s", "c", "lc_batch"};
    static const Words make{"-noshell", "-noinput", "-s", "make", "all_or_nothing", "-s", "erlang", "halt"};
    if (is_one_of(word, {"-detached", "-noinput"})) return &no_shell;
    if (word == "-compile") return &compile;
    return word == "-make" ? &make : nullptr;
  }

  bool has_value(std::size_t number) const {
    const std::size_t at = i_ + number;
    return at < line_.size() && line_[at] != "--";
  }

  Error take_variable() {
    if (!has_value(1) || !has_value(2)) return "flag -env needs a name and a value";
    ::setenv(line_[i_ + 1].c_str(), line_[i_ + 2].c_str(), 1);
    i_ += 2;
    return {};
  }

  /// Decides whether this is a node, and what to do about epmd.
  Error take_of_node(const std::string& word) {
    if (!has_value(1)) return fmt::format("flag {} needs a value", word);
    const std::string& value = line_[++i_];
    if (word == "-epmd") {
      epmd_ = value;
      return {};
    }
    is_node_ |= is_one_of(word, {"-sname", "-name"});
    if (word == "-start_epmd") {
      if (!is_one_of(value, {"true", "false"}))
        return fmt::format("flag -start_epmd is true or false, not '{}'", value);
      wants_epmd_ = value == "true";
    }
    command_->boot.insert(command_->boot.end(), {word, value});
    return {};
  }

  /// Refuses the choice of another kind of machine. There is one here, which compiles code as it
  /// runs, or not at all with `+hot 0`.
  Error check_kind(const std::string& word) const {
    const std::string_view value = i_ + 1 < line_.size() ? std::string_view(line_[i_ + 1]) : "";
    if (word == "-smpdisable" || (word == "-smp" && value == "disable"))
      return "not supported: -smp disable: '+S 1' is one scheduler";
    if ((word == "-emu_type" && value != "opt") ||
        (word == "-emu_flavor" && !is_one_of(value, {"smp", "jit", "emu"})))
      return fmt::format("flag {}: there is no machine '{}'", word, value);
    return {};
  }

  const Words& line_;
  ErlCommand* command_;
  std::size_t i_ = 0;
  Words machine_;  // the words for vmrun's own command line
  bool in_background_ = false, is_node_ = false, wants_epmd_ = true;
  std::string epmd_;  // the command that starts epmd, if not the usual one
};

}  // namespace

std::variant<ErlCommand, UsageError> parse_erl_command(const std::string& root, const std::string& progname,
                                                       const Words& words) {
  ErlCommand command;
  command.boot = {"-root", root, "-bindir", otp_bin_directory(root), "-progname", progname, "--"};
  if (const char* home = std::getenv("HOME")) command.boot.insert(command.boot.end(), {"-home", home});
  if (const char* port = std::getenv("ERL_EPMD_PORT"))
    command.boot.insert(command.boot.end(), {"-epmd_port", port});
  command.boot.emplace_back("--");
  Words line;
  if (Error e = put_together(words, otp_version_of(root).release, &line)) return UsageError{*e};
  Division division(line, &command);
  if (Error e = division.run()) return UsageError{*e};
  const auto flags = parse_machine_flags(division.machine());
  if (const auto* error = std::get_if<UsageError>(&flags)) return *error;
  command.options = std::get<Options>(flags);
  command.options.otp_root = root;
  command.options.in_background = division.in_background();
  return command;
}

}  // namespace vmrun::cli

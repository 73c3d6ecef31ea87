// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "runtime/cli/options.hpp"

/// The command line of `erl`, for machines that run OTP's own system: it is divided into the
/// machine's words and those for OTP's `init`. Follows the manual page erl(1): flags that begin
/// with `+` are the machine's, accepted or refused by name; the words of ERL_OTPnn_FLAGS and
/// ERL_AFLAGS come first, those of ERL_FLAGS and ERL_ZFLAGS last; words behind `-extra` in any of
/// them come after all others; `-args_file` stands for the words of the file.
namespace vmrun::cli {

/// What is printed about the command, instead of running it or before that.
enum class Shown { kNothing, kCommand, kWords, kQuotedCommand, kMachine };

struct ErlCommand {
  Options options;                   // from the machine's flags
  std::vector<std::string> machine;  // the machine's flags, as system_info(emu_args) reports them
  std::vector<std::string> boot;     // the words for init
  // The shell command to run first, so that the nodes of this host find each other: -epmd's value,
  // or "" for an epmd in the background. Nothing: this is not a node, or no epmd is wanted.
  std::optional<std::string> epmd;
  Shown shown = Shown::kNothing;                   // with kCommand it also runs
  std::optional<std::vector<std::string>> manual;  // runs `man` with these words instead
};

/// root: of the installed OTP. progname: the program that starts other nodes.
std::variant<ErlCommand, UsageError> parse_erl_command(const std::string& root, const std::string& progname,
                                                       const std::vector<std::string>& words);

}  // namespace vmrun::cli

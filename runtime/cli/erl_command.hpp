#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "runtime/cli/options.hpp"

/// The command line of `erl`, for machines that run OTP's own system: which words are the machine's
/// and which are told to OTP's `init`. Follows the manual page erl(1): flags that begin with `+`
/// are the machine's, taken or refused by name; the words of ERL_OTPnn_FLAGS and ERL_AFLAGS come
/// first, those of ERL_FLAGS and ERL_ZFLAGS last; what stands behind `-extra` in any of them comes
/// after all others; `-args_file` stands for what is in the file.
namespace vmrun::cli {

/// What is printed of the command in place of running it, or before that.
enum class Shown { kNothing, kCommand, kWords, kQuotedCommand, kMachine };

struct ErlCommand {
  Options options;                   // what the flags of the machine say
  std::vector<std::string> machine;  // the machine's flags, as system_info(emu_args) tells them
  std::vector<std::string> boot;     // what init is told
  // What the shell is to run first, so that the nodes of this host find each other: -epmd's value;
  // empty: an epmd that goes on in the background. Nothing: this is no node, or it is not wanted.
  std::optional<std::string> epmd;
  Shown shown = Shown::kNothing;                   // kCommand: and then it runs
  std::optional<std::vector<std::string>> manual;  // the program `man` and its words, instead of all else
};

/// root: of the installed OTP. progname: what programs start for another node.
std::variant<ErlCommand, UsageError> parse_erl_command(const std::string& root, const std::string& progname,
                                                       const std::vector<std::string>& words);

}  // namespace vmrun::cli

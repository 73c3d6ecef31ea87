#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/cli/options.hpp"

/// The commands of OTP's bin folder that are `erl` with words of its own in front: a link to vmrun
/// that has one of their names does what the command does. Which words those are follows the manual
/// pages of erlc(1), escript(1), dialyzer(1), typer(1) and ct_run(1).
namespace vmrun::cli {

struct OtpCommand {
  std::string_view name;
  /// The variable of the environment that names another `erl` to start; nullptr: there is none.
  const char* other_erl;
  /// The words of the `erl` that it is. typed: the command itself as it was typed; sets the
  /// variable ESCRIPT_NAME, which its modules ask for.
  std::variant<std::vector<std::string>, UsageError> (*erl_words)(const std::string& typed,
                                                                  const std::vector<std::string>& given);
};

/// nullptr: no command has that name.
const OtpCommand* find_otp_command(std::string_view name);

/// Returns the exit status. Called once, from main.
int run_otp_command(const OtpCommand& command, int argc, const char* const* argv);

}  // namespace vmrun::cli

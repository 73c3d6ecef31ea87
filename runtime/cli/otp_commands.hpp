// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/cli/options.hpp"

/// The commands of OTP's bin folder that run `erl` with some words of their own in front. A link to
/// vmrun that has one of their names does what the command does. The words follow the manual pages
/// of erlc(1), escript(1), dialyzer(1), typer(1) and ct_run(1).
namespace vmrun::cli {

struct OtpCommand {
  std::string_view name;
  /// The environment variable that names another `erl` to start, or nullptr.
  const char* other_erl;
  /// Returns the words for `erl`. typed: the command as it was typed. Sets the variable
  /// ESCRIPT_NAME, which OTP's modules read.
  std::variant<std::vector<std::string>, UsageError> (*erl_words)(const std::string& typed,
                                                                  const std::vector<std::string>& given);
};

/// Returns nullptr when no command has that name.
const OtpCommand* find_otp_command(std::string_view name);

/// Returns the exit status. Called once, from main.
int run_otp_command(const OtpCommand& command, int argc, const char* const* argv);

}  // namespace vmrun::cli

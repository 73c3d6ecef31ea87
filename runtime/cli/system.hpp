// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

/// The machine as the emulator behind an `erl` command. It loads the modules that OTP's own machine
/// has preloaded from the installation, and begins like that machine with erl_init and OTP's init,
/// which does the rest: the boot script, kernel, the applications. error_handler takes care of
/// undefined functions, and OTP's code server of modules.
namespace vmrun::cli {

/// The name of the command.
inline constexpr std::string_view kSystemCommand = "erl";

/// typed: the command as it was typed; words: its arguments. Returns the exit status. Called once,
/// from main.
int run_system(const std::string& typed, const std::vector<std::string>& words);

}  // namespace vmrun::cli

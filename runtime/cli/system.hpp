#pragma once

#include <string>
#include <string_view>
#include <vector>

/// The machine as the emulator behind an `erl` command: it loads the modules that OTP's own machine
/// has in itself, from the installation, and begins as that does, with erl_init and OTP's init,
/// which does the rest: the boot script, kernel, the applications. Undefined functions are
/// error_handler's business, modules that of OTP's code server.
namespace vmrun::cli {

/// The name under which vmrun does so.
inline constexpr std::string_view kSystemCommand = "erl";

/// typed: the command, as it was typed; words: what comes after it. Returns the exit status. Called
/// once, from main.
int run_system(const std::string& typed, const std::vector<std::string>& words);

}  // namespace vmrun::cli

#pragma once

#include <string_view>

/// The machine as the emulator behind an `erl` command: it loads the modules that OTP's own machine
/// has in itself, from the installation, and begins as that does, with erl_init and OTP's init,
/// which does the rest: the boot script, kernel, the applications. Undefined functions are
/// error_handler's business, modules that of OTP's code server.
namespace vmrun::cli {

/// The name under which vmrun does so.
inline constexpr std::string_view kSystemCommand = "erl";

/// Returns the exit status. Called once, from main.
int run_system(int argc, const char* const* argv);

}  // namespace vmrun::cli

#pragma once

#include <string>

/// The environment that OTP's modules and the programs they start look into.
namespace vmrun::cli {

/// Sets ROOTDIR, BINDIR, EMU and PROGNAME as OTP's `erl` does, and puts the folder where the
/// command lies, then those of the installation, in front of PATH: whoever starts `erl` or `erlc`
/// from a program gets the ones the program runs under. typed: the command as it was typed.
void set_system_environment(const std::string& root, const std::string& typed);

}  // namespace vmrun::cli

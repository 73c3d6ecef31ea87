// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

/// The environment variables that OTP's modules, and the programs that they start, read.
namespace vmrun::cli {

/// Sets ROOTDIR, BINDIR, EMU and PROGNAME as OTP's `erl` does, and puts the command's folder, then
/// those of the installation, in front of PATH. So a program that starts `erl` or `erlc` gets the
/// ones under which it runs itself. typed: the command as it was typed.
void set_system_environment(const std::string& root, const std::string& typed);

}  // namespace vmrun::cli

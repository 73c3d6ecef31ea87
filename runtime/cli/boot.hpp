#pragma once

#include "runtime/cli/code_finder.hpp"
#include "runtime/cli/options.hpp"

/// Brings the machine up around a script: built-ins, code source, the first process, schedulers;
/// waits for the end.
namespace vmrun::cli {

/// Prints the machine's instructions that a module becomes when it is loaded. Nothing runs. Returns
/// the exit status; instead of boot.
int print_loaded(const FoundCode& code);

/// Returns the exit status. Called once, from main.
int boot(const Options& options, CodeFinder& finder);

}  // namespace vmrun::cli

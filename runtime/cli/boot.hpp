#pragma once

#include "runtime/cli/code_finder.hpp"
#include "runtime/cli/options.hpp"

/// Brings the machine up around a script: built-ins, code source, the first process, schedulers;
/// waits for the end.
namespace vmrun::cli {

/// Returns the exit status. Called once, from main.
int boot(const Options& options, CodeFinder& finder);

}  // namespace vmrun::cli

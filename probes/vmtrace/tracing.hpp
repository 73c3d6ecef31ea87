// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "probes/vmtrace/command_line.hpp"
#include "probes/vmtrace/presentation.hpp"

/// Runs a script from its text to its end: it is compiled, enabled in the targets, and its records
/// are read and printed.
namespace vmrun::d {

/// The command ends with this status. The reason has been reported already.
struct Failed {
  int status;
};
inline constexpr int kFailure = 1, kUsage = 2;

/// Says why, as `vmtrace: text`, and throws Failed.
[[noreturn]] void fail(const std::string& text, int status = kFailure);

/// Returns the texts of a command line, with files read.
std::vector<Source> sources_of(const CommandLine& line);

/// Traces what the command line says, with these texts, and returns the exit status. shows: may be
/// null; it outlives the call. Throws Failed.
int trace(const CommandLine& line, const std::vector<Source>& sources, Presentation* shows);

/// Runs --relay and returns the exit status. Throws Failed.
int relay(const CommandLine& line);

}  // namespace vmrun::d

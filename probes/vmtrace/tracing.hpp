#pragma once

#include <string>
#include <vector>

#include "probes/vmtrace/options.hpp"
#include "probes/vmtrace/presentation.hpp"

/// A script from its text to its end: compiled, enabled in the targets, read, printed.
namespace vmrun::d {

/// The command ends with this status; why has been said.
struct Failed {
  int status;
};
inline constexpr int kFailure = 1, kUsage = 2;

/// Says why, as `vmtrace: text`, and throws Failed.
[[noreturn]] void fail(const std::string& text, int status = kFailure);

/// The texts of a command line, files read.
std::vector<Source> sources_of(const CommandLine& line);

/// Traces what the line says with these texts; the exit status. shows: may be null; outlives the
/// call. Throws Failed.
int trace(const CommandLine& line, const std::vector<Source>& sources, Presentation* shows);

/// --relay; the exit status. Throws Failed.
int relay(const CommandLine& line);

}  // namespace vmrun::d

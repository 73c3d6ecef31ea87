#pragma once

#include <string>
#include <vector>

#include "probes/d/script/script.hpp"
#include "probes/vmtrace/target.hpp"

/// -l and -v: which probes there are, in the columns of dtrace -l. No state.
namespace vmrun::d {

inline constexpr std::size_t kMostListed = 1 << 16;  // functions of a description

std::string list_header();

/// All there are: of functions by name only that there are such. A family of numbered probes
/// (user_trace-n0 and on) is a line. arguments: what they hand over, below each.
void list_all(std::string& out, Target& target, bool arguments);

/// Those that the clauses of a script, compiled for this target, wait for; functions that are
/// loaded by name.
void list_matches(std::string& out, Target& target, const Script& script, bool arguments);

/// What -v says of the probes of a script.
std::string describe_matches(const Script& script, const std::vector<ProbeInfo>& probes);

}  // namespace vmrun::d

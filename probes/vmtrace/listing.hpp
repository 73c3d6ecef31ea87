#pragma once

#include <string>
#include <vector>

#include "probes/d/script/script.hpp"
#include "probes/vmtrace/target.hpp"

/// -l and -v: which probes there are, in the columns of dtrace -l. No state.
namespace vmrun::d {

inline constexpr std::size_t kMostListed = 1 << 16;  // functions of a description

/// Those that a text of the command line describes, all without one. A family of numbered probes
/// (user_trace-n0 and on) is a line, and so are functions, unless modules or functions are named.
/// arguments: what they hand over, below each.
void list_probes(std::string& out, Target& target, const std::vector<Source>& sources, bool arguments);

/// What -v says of the probes of a script.
std::string describe_matches(const Script& script, const std::vector<ProbeInfo>& probes);

}  // namespace vmrun::d

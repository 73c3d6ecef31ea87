// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "probes/d/script/script.hpp"
#include "probes/vmtrace/target.hpp"

/// -l and -v: lists probes in the columns of dtrace -l. It keeps no state.
namespace vmrun::d {

inline constexpr std::size_t kMostListed = 1 << 16;  // the most functions listed for a description

std::string list_header();

/// Lists all probes. For named functions it only says that there are such probes. A family of
/// numbered probes (user_trace-n0 and on) is one line. arguments: shows the arguments below each
/// probe.
void list_all(std::string& out, Target& target, bool arguments);

/// Lists the probes that the clauses of a script, compiled for this target, wait for. Functions
/// that are loaded are listed by name.
void list_matches(std::string& out, Target& target, const Script& script, bool arguments);

/// Returns what -v says of the probes of a script.
std::string describe_matches(const Script& script, const std::vector<ProbeInfo>& probes);

}  // namespace vmrun::d

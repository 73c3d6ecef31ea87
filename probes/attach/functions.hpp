// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "probes/engine/host.hpp"

/// Probes of named functions: which functions scripts watch, and their firings
/// (vm/code/function_probes.hpp) on the way to the sessions. A pattern of a script is a filter. The
/// filter knows the functions it has let through by their numbers, so a firing thread tests a bit.
namespace vmrun::attach {

// Only the controlling thread calls the following functions.

/// Returns 0 and `why` when there are too many patterns or functions.
std::uint32_t add_function_filter(const d::FunctionPattern& pattern, d::FunctionEvent event,
                                  std::string& why);
/// Turns the probes of the filters' functions on or off. Firings under way go on. Turning off also
/// makes processes forget the calls whose ends nothing waits for. No call passes the filters before
/// start_function_filters.
void enable_function_filters(const std::vector<std::uint32_t>& filters, bool on);
/// Calls that begin from now on pass, with their entries and their ends. The session must take
/// firings already, so that no end comes without its entry.
void start_function_filters(const std::vector<std::uint32_t>& filters);
/// The filters do not fire any more. The numbers of functions that only they know are given to
/// others.
void remove_function_filters(const std::vector<std::uint32_t>& filters);
/// Returns how many functions they would let through that are not watched because the limit is
/// reached.
std::uint64_t untraced_functions(const std::vector<std::uint32_t>& filters);
/// Returns the functions that match, each once, by module, `most` at most.
std::vector<d::FunctionName> matching_functions(const d::FunctionPattern& pattern, std::size_t most);

// Any thread may call these while a filter knows the function.

bool function_filter_passes(std::uint32_t filter, const d::Firing& f);
/// The texts are never freed.
d::FunctionName function_name(std::uint32_t function);

// The firing thread calls these for a firing of such a probe.

/// Gives the n-th term that the function takes or gives. Returns false when it has none.
bool function_term(const d::Firing& f, unsigned n, std::uint64_t& term);
/// Returns an address in the function when its process is at the caller, or nullptr when the
/// process is in the function.
const std::uint64_t* function_place(const d::Firing& f);

}  // namespace vmrun::attach

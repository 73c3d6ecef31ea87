#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "probes/engine/host.hpp"

/// Functions by name: which functions scripts watch, and the firings of those
/// (vm/code/function_probes.hpp) on their way to the sessions. A pattern of a script is a filter;
/// it knows the functions it has let through by their numbers, so who fires tests a bit.
namespace vmrun::attach {

// The controlling thread.

/// 0 and `why`: there are too many, of patterns or of functions.
std::uint32_t add_function_filter(const d::FunctionPattern& pattern, d::FunctionEvent event,
                                  std::string& why);
/// Their functions fire; or do not, though firings under way go on. Processes then forget the calls
/// that nobody awaits. No call passes them before start_function_filters.
void enable_function_filters(const std::vector<std::uint32_t>& filters, bool on);
/// Calls that begin from now on pass, with their entries and their ends: whoever takes the firings
/// takes them already, so that no end comes without its entry.
void start_function_filters(const std::vector<std::uint32_t>& filters);
/// They do not fire any more. The numbers of functions that only they know are given to others.
void remove_function_filters(const std::vector<std::uint32_t>& filters);
/// How many functions they would let through that are not watched, because as many are as can be.
std::uint64_t unwatched_functions(const std::vector<std::uint32_t>& filters);
/// Each once, by module, at most so many.
std::vector<d::FunctionName> matching_functions(const d::FunctionPattern& pattern, std::size_t most);

// Any thread, while a filter knows the function.

bool function_filter_passes(std::uint32_t filter, const d::Firing& f);
/// The texts stay for ever.
d::FunctionName function_name(std::uint32_t function);

// In the firing thread: of a firing of such a probe.

/// A term that the function takes or gives. False: it has no n-th.
bool function_term(const d::Firing& f, unsigned n, std::uint64_t& term);
/// An address in the function when its process is at its caller; nullptr: the process is in it.
const std::uint64_t* function_place(const d::Firing& f);

}  // namespace vmrun::attach

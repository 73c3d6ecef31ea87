#pragma once

#include <cstdint>
#include <string>

#include "probes/engine/host.hpp"

/// Functions by name: which firings of a probe that takes a function are of those that a script
/// names with patterns. What a pattern says of a function is remembered.
namespace vmrun::attach {

// The controlling thread. The probe fires while there is a filter for it.

/// argument: which one is the function; patterns: empty means any, arity -1 too. 0: there are too
/// many.
std::uint32_t add_filter(std::uint32_t probe, unsigned argument, const std::string& module,
                         const std::string& function, std::int32_t arity);
void remove_filter(std::uint32_t filter);

/// In the thread that fires.
bool filter_passes(std::uint32_t filter, const d::Firing& f);

}  // namespace vmrun::attach

#pragma once

#include <string_view>

#include "probes/engine/program.hpp"

/// Names of D that are neither variables nor subroutines (subroutines.tab): actions, aggregating
/// functions, and what other DTraces have that makes no sense here. Lists only.
namespace vmrun::d::lang {

bool is_action(std::string_view name);
std::size_t fewest_arguments(std::string_view action);
/// A function whose value a statement that is nothing else traces: ufunc(x);
bool is_traced_alone(std::string_view name);
bool is_aggregating(std::string_view name);
/// name: is_aggregating.
Aggregating aggregating_function(std::string_view name);
/// Why there is no such function here; empty when it is not one that is refused by name.
std::string_view why_refused(std::string_view function);
bool is_kernel_variable(std::string_view name);

}  // namespace vmrun::d::lang

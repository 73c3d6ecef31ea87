// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "probes/engine/program.hpp"

/// Names of D that are neither variables nor subroutines (subroutines.tab): actions
/// (script/action_table.hpp), aggregating functions, and what other DTraces have that makes no
/// sense here. Lists only.
namespace vmrun::d::lang {

bool is_action(std::string_view name);
/// Whether a statement that consists of this call alone traces its value: ufunc(x);
bool is_traced_alone(std::string_view name);
bool is_aggregating(std::string_view name);
/// Returns the aggregating function that a wrong name probably means, or an empty text.
std::string_view aggregating_like(std::string_view wrong);
/// name: one for which is_aggregating holds.
Aggregating aggregating_function(std::string_view name);
/// Returns why there is no such function here. It is empty when the name is not one that is
/// refused.
std::string_view why_refused(std::string_view function);
bool is_kernel_variable(std::string_view name);

}  // namespace vmrun::d::lang

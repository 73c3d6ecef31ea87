// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "probes/d/descriptions/match.hpp"

/// Finds what a probe description that matches nothing probably means. It is called for a message
/// only, and may ask the target for the names of its functions.
namespace vmrun::d::lang {

using ListFunctions = std::function<std::vector<NamedFunction>(const FunctionPattern&)>;

/// Returns a description that matches and differs in a misspelt part; empty when there is none.
/// list_functions: may be empty.
std::string description_like(const std::string& text, Source::Kind kind, const Matchable& there_is,
                             const ListFunctions& list_functions);

}  // namespace vmrun::d::lang

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "probes/d/descriptions/probe_arguments.hpp"
#include "probes/d/expressions/tree_nodes.hpp"
#include "vm/base/near_name.hpp"

/// The built-in variables of D (builtins.tab), argN, and constants (NULL, AF_INET).
namespace vmrun::d::lang {

/// Makes a reference or a constant of a name that is a built-in one. Returns false when it is not.
/// args and targs fail, because they mean nothing without an index.
bool builtin(Node*& n, Nodes& nodes);

/// Offers the names that exist at the probes of the clause as what a wrong name may mean.
void offer_builtins(const ProbeArguments& arguments, NearName& near);
/// Whether this is a built-in variable, argN included.
bool is_builtin_variable(std::string_view name);

}  // namespace vmrun::d::lang

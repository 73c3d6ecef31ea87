// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "probes/d/expressions/tree_nodes.hpp"

/// The built-in variables of D (builtins.tab), argN, and constants (NULL, AF_INET).
namespace vmrun::d::lang {

/// Makes a reference or a constant of a name that is a built-in one. Returns false when it is not.
/// args and targs fail, because they mean nothing without an index.
bool builtin(Node*& n, Nodes& nodes);

}  // namespace vmrun::d::lang

#pragma once

#include "probes/d/expressions/nodes.hpp"

/// The built-in variables of D (builtins.tab), argN, and constants (NULL, AF_INET).
namespace vmrun::d::lang {

/// Makes a reference, or a constant, of a name that is one of them; false: it is none. args and
/// targs fail: they are nothing without an index.
bool builtin(Node*& n, Nodes& nodes);

}  // namespace vmrun::d::lang

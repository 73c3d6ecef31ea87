// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "probes/d/script/script.hpp"
#include "probes/d/statements/check.hpp"

/// The last pass: it turns checked clauses into instructions (operations.tab).
namespace vmrun::d::lang {

/// Fills in the clauses, constants and texts of the script's program.
void emit(Script& script, Types& types, Checker& checker);

}  // namespace vmrun::d::lang

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/compile/check/tables.hpp"

/// What a correct module must satisfy beyond its syntax, and what deserves a warning. Rules and
/// texts are those of Erlang's own compiler where it has them. Owned by one compilation; one thread
/// at a time.
namespace vmrun::compile {

/// Reports to the session's diagnostics. Lowering relies on a module that passes without errors.
void lint_module(Session& session, const ParsedModule& module, ModuleTables& tables);

}  // namespace vmrun::compile

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/compile/check/tables.hpp"
#include "runtime/compile/source/compile_session.hpp"

/// Match specifications written as funs, as the parse transform ms_transform translates them. One
/// compilation, one thread.
namespace vmrun::compile {

/// Returns the expression that a call of ets:fun2ms/1 or dbg:fun2ms/1 stands for in a module that
/// asks for ms_transform: [{Head, Guards, Body}, …] (the ERTS user's guide, "Match Specifications
/// in Erlang"). Returns nullptr for any other call. Made once for each call; errors are reported on
/// the way.
const Expr* match_spec_call(Session& session, ModuleTables& tables, const CallExpr& call);

}  // namespace vmrun::compile

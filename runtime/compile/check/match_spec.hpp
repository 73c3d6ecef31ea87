#pragma once
// Match specifications written as funs: what the parse transform ms_transform does. One
// compilation, one thread.

#include "runtime/compile/check/tables.hpp"
#include "runtime/compile/source/session.hpp"

namespace vmrun::compile {

/// The expression that a call of ets:fun2ms/1 or dbg:fun2ms/1 stands for in a module that asked for
/// ms_transform: [{Head, Guards, Body}, …] (the ERTS user's guide, "Match Specifications in
/// Erlang"). Null for any other call. Made once for each call; mistakes are reported on the way.
const Expr* match_spec_call(Session& session, ModuleTables& tables, const CallExpr& call);

}  // namespace vmrun::compile

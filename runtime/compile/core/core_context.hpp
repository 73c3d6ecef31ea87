// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/compile/check/tables.hpp"
#include "runtime/compile/core/core_nodes.hpp"
#include "runtime/compile/core/name_order.hpp"
#include "runtime/compile/core/scope.hpp"
#include "runtime/compile/core/variable_uses.hpp"

/// What the classes that turn a module's syntax into Core share: its tables, the maker of nodes,
/// the scope, and each other, because each kind of expression contains the others.
///
/// How expressions that bind variables become Core: `value(e, block)` returns a Core expression. It
/// appends to `block` what has to happen before it and stays visible after it: lets, effects,
/// matches. `finish` nests the block around its result. An operand that left statements in its
/// block forces its earlier siblings into variables, so that evaluation stays left to right.
namespace vmrun::compile {

class ExprToCore;
class ControlToCore;
class GuardToCore;
class PatternToCore;
class BinaryToCore;
class RecordToCore;
class ComprehensionToCore;
class ConstantToCore;

struct CoreContext {
  Session& session;
  ModuleTables& tables;
  Nodes nodes;
  Scope scope{nodes};
  VariableUses uses{};                          // of the current function
  NameOrder names{tables};                      // of the current function
  std::vector<CExpr*>* guard_checks = nullptr;  // set inside a guard: collects record checks

  ExprToCore& exprs;
  ControlToCore& control;
  GuardToCore& guards;
  PatternToCore& patterns;
  BinaryToCore& binaries;
  RecordToCore& records;
  ComprehensionToCore& comprehensions;
  ConstantToCore& constants;
};

/// Where a pattern stands.
struct PatternContext {
  std::size_t start;               // bindings newer than this belong to the pattern
  bool head;                       // a function or fun head, or a generator: outer variables are shadowed
  bool skip = false;               // only the shape of a binary generator's pattern matters, not the values
  std::vector<CExpr*> tests = {};  // equalities with variables that are already bound
};

/// The base of these classes.
class ToCorePart {
 public:
  explicit ToCorePart(CoreContext& context) : c_(context), nodes_(context.nodes), scope_(context.scope) {}

 protected:
  CoreContext& c_;
  Nodes& nodes_;
  Scope& scope_;
};

}  // namespace vmrun::compile

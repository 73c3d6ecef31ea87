// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/compile/lower/block_builder.hpp"
#include "runtime/compile/lower/fun_analysis.hpp"
#include "vm/ir/bif_info.hpp"
#include "vm/ir/ssa.hpp"

/// What the classes that turn the Core of one function into a graph of blocks share: the blocks,
/// the values of variables, and each other. One compilation, one thread.
namespace vmrun::compile::lower {

/// What the functions of one module share during lowering.
struct ModuleContext {
  Program& program;
  std::vector<std::string>& errors;
  std::unordered_map<std::uint64_t, std::uint32_t> local;       // name and arity → index in functions
  std::unordered_map<std::uint64_t, std::uint32_t> local_funs;  // fun f/1 → index in lambdas
  std::vector<Arg> env;                                         // indexed by Var::slot
  std::vector<std::unique_ptr<core::FunNote>> notes;
  static std::uint64_t key(Term name, std::uint32_t arity) { return name.raw() << 10 | arity; }
};

class LowerExpr;
class LowerFun;
class LowerData;
class LowerControl;
class LowerCond;

struct LowerContext {
  ModuleContext& module;
  Function& fn;
  core::FunNote& note;
  BlockBuilder blocks;
  BlockId guard_fail = kNone;  // set in guards: an operation that would raise goes there

  LowerExpr& exprs;
  LowerFun& funs;
  LowerData& data;
  LowerControl& control;
  LowerCond& conds;

  Arg lookup(core::Var* v) { return module.env[v->slot]; }
  void bind(core::Var* v, Arg a) { module.env[v->slot] = a; }
};

/// The base of these classes.
class LowerPart {
 public:
  explicit LowerPart(LowerContext& context)
      : c_(context), blocks_(context.blocks), fn_(context.fn), arena_(context.module.program.arena) {}

 protected:
  LowerContext& c_;
  BlockBuilder& blocks_;
  Function& fn_;
  NodeArena& arena_;
};

}  // namespace vmrun::compile::lower

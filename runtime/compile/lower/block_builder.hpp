// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "vm/ir/ssa.hpp"

/// Appends instructions to the blocks of a function under construction. One function; one thread.
namespace vmrun::compile::lower {

using namespace ir;

/// Where the value of an expression goes.
struct Dest {
  enum Kind : std::uint8_t { kReturn, kJoin } kind;
  // kJoin: the block whose parameters take the values. If it has none, only effects count.
  BlockId join = kNone;
};

class BlockBuilder {
 public:
  BlockBuilder(NodeArena& arena, Function& fn) : arena_(arena), fn_(fn) {}

  /// The block to which instructions are appended. Code after a jump goes to an unreachable block
  /// that is dropped later.
  Block& cur() { return fn_.blocks[cur_]; }
  BlockId here() const { return cur_; }
  /// The innermost try or catch around new blocks.
  BlockId handler() const { return handler_; }
  void set_handler(BlockId handler) { handler_ = handler; }
  BlockId new_block() { return fn_.new_block(handler_); }
  BlockId new_join(std::size_t params);
  void start(BlockId b) { cur_ = b; }
  void jump(BlockId to, std::vector<Arg> args = {});
  void finish(Dest d, Arg value);
  void error(Fail kind, Arg subject, Loc loc);
  Instr& emit(Op op, const std::vector<Arg>& args, Loc loc = {});
  Arg emit_value(Op op, const std::vector<Arg>& args, Loc loc = {}, std::uint64_t imm = 0);
  /// Ends the current block with a test; does not start another one.
  void test(Test t, const std::vector<Arg>& args, BlockId yes, BlockId no, std::uint64_t imm = 0);
  /// Ends the current block with the fallible operation `i` and continues in its success block.
  /// With `fail` kNone the operation raises.
  void fallible(Instr i, BlockId fail);

 private:
  NodeArena& arena_;
  Function& fn_;
  BlockId cur_ = 0;
  BlockId handler_ = kNone;
};

}  // namespace vmrun::compile::lower

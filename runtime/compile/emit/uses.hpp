// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "vm/ir/liveness.hpp"
#include "vm/ir/ssa.hpp"

/// When each value of the current block is needed for the last time, and where the calls are that
/// lose the x registers. One function; one thread.
namespace vmrun::compile {

using ir::Arg;
using ir::Block;
using ir::BlockId;
using ir::Instr;
using ir::kNone;
using ir::Op;
using ir::ValueId;

class Uses {
 public:
  static constexpr std::uint32_t kForever = 0xFFFFFFFF;

  Uses(const ir::Function& fn, const ir::Liveness& live) : fn_(fn), live_(live), use_(fn.value_count) {}

  void enter(BlockId id);
  const Block& block() const { return *block_; }
  /// Whether the value is needed in the block or behind it.
  bool needed(ValueId v) const { return use_[v].block == id_; }
  /// Returns the position of the last instruction in the block that needs v; kForever if v is
  /// needed behind the block.
  std::uint32_t last(ValueId v) const { return use_[v].last; }
  bool dies(ValueId v, std::uint32_t at) const;
  std::uint32_t next_clobber(std::uint32_t at) const;
  bool outlasts(ValueId v, std::uint32_t at) const;

 private:
  struct Use {
    std::uint32_t block = kNone;
    std::uint32_t last = 0;
  };

  const ir::Function& fn_;
  const ir::Liveness& live_;
  BlockId id_ = kNone;
  const Block* block_ = nullptr;
  std::vector<Use> use_;
  std::vector<std::uint32_t> clobbers_;  // positions of clobbering instructions in this block
};

}  // namespace vmrun::compile

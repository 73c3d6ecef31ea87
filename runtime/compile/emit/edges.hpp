// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "runtime/compile/emit/code_builder.hpp"
#include "runtime/compile/emit/registers.hpp"

/// The state at the start of each block, and the edges between blocks. The first edge to a block
/// fixes where its values are. Other edges move values into place, in stubs where a conditional
/// jump needs it. Stubs stand in front of the block they lead to, unless the previous block falls
/// through into it; so the last stub needs no jump. Besides, OTP's own passes over assembly drop a
/// label to which no earlier code leads, such as that of a receive entered through stubs only. Also
/// decides which blocks run with a frame. One function; one thread.
namespace vmrun::compile {

/// Whether the code of a block needs a frame. A call that ends the function (or never returns) does
/// not, unless its only form has one.
bool needs_frame(const Block& b);

class Edges {
 public:
  Edges(CodeBuilder& builder, const ir::Function& fn, const ir::Liveness& live, Uses& uses, Frames& frames,
        Registers& registers);

  void plan_frames();
  bool framed(BlockId id) const { return framed_in_[id]; }
  std::uint32_t nesting(const Block& b) const;
  void enter_function();
  /// Sets the registers to the state at the start of block `id`; `next` is the block laid out after
  /// it.
  void enter_block(BlockId id, BlockId next);
  std::uint32_t label_of(BlockId b);
  std::uint32_t edge(BlockId to);
  void goto_block(BlockId to, std::span<const Arg> args);
  void set_entry(BlockId to, std::span<const Arg> args);
  /// Returns all code of the function.
  std::vector<AsmInstr> finish();

 private:
  struct Place {
    ValueId value;
    std::int32_t x, y;
  };
  struct Entry {
    bool set = false;
    std::vector<Place> places;
    Registers::Contents contents;
    std::vector<Operand> params;
    std::uint32_t frame = kNone;
    std::uint32_t label = 0;
    bool wanted = false;  // code jumps to the label
  };
  std::vector<Registers::Move> conform(BlockId to, std::span<const Arg> args);
  void join_frames(BlockId to);

  CodeBuilder& builder_;
  const ir::Function& fn_;
  const ir::Liveness& live_;
  Uses& uses_;
  Frames& frames_;
  Registers& regs_;
  std::vector<AsmInstr> code_;
  std::vector<std::vector<AsmInstr>> stubs_;  // indexed by the block they lead to
  bool in_stub_ = false;
  std::vector<Entry> entry_;
  std::vector<bool> framed_in_;
  // between loop_rec and remove_message, where parts of the message must not be stored
  std::vector<bool> fragile_in_;
  BlockId next_ = kNone;        // the block laid out after this one
  bool falls_through_ = false;  // the code so far falls through into next_
};

}  // namespace vmrun::compile

#pragma once
// What holds at the start of each block, and the ways from block to block: whoever goes to a block
// first fixes where its values are, the others move things into place, in stubs where a conditional
// jump needs it. Stubs stand in front of the block they lead to, unless the block before runs into
// it: the last needs no jump then. Besides, OTP's own passes over assembly drop a label that
// nothing in front of it leads to, such as that of a receive entered through stubs only. Also which
// blocks run with a frame. One function; one thread.

#include <span>
#include <vector>

#include "runtime/compile/emit/code_builder.hpp"
#include "runtime/compile/emit/registers.hpp"

namespace vmrun::compile {

/// Whether the code of a block needs a frame: a call that ends the function (or never comes back)
/// does not, except where only the form with a frame exists.
bool needs_frame(const Block& b);

class Edges {
 public:
  Edges(CodeBuilder& builder, const ssa::Function& fn, const ssa::Liveness& live, Uses& uses, Frames& frames,
        Registers& registers);

  void plan_frames();
  bool framed(BlockId id) const { return framed_in_[id]; }
  std::uint32_t nesting(const Block& b) const;
  void enter_function();
  /// Registers are as at the start of block `id`; `next` is the block laid out after it.
  void enter_block(BlockId id, BlockId next);
  std::uint32_t label_of(BlockId b);
  std::uint32_t edge(BlockId to);
  void goto_block(BlockId to, std::span<const Arg> args);
  void set_entry(BlockId to, std::span<const Arg> args);
  /// All code of the function.
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
    bool wanted = false;  // somebody jumps to the label
  };
  std::vector<Registers::Move> conform(BlockId to, std::span<const Arg> args);
  void join_frames(BlockId to);

  CodeBuilder& builder_;
  const ssa::Function& fn_;
  const ssa::Liveness& live_;
  Uses& uses_;
  Frames& frames_;
  Registers& regs_;
  std::vector<AsmInstr> code_;
  std::vector<std::vector<AsmInstr>> stubs_;  // by the block they lead to
  bool in_stub_ = false;
  std::vector<Entry> entry_;
  std::vector<bool> framed_in_;
  // between loop_rec and remove_message: parts of the message must not be stored
  std::vector<bool> fragile_in_;
  BlockId next_ = kNone;        // the block laid out after this one
  bool falls_through_ = false;  // the code so far runs on into that
};

}  // namespace vmrun::compile

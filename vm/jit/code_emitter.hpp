// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "vm/jit/assembler.hpp"
#include "vm/jit/emit_code.hpp"
#include "vm/jit/native_frame.hpp"

/// What emit is made of. Its files: emit_code.cpp (blocks, moves, exits, calls),
/// emit_instructions.cpp (what is in blocks) and emit_bits.cpp. One thread.
namespace vmrun::jit {

class Emitter {
 public:
  Emitter(const Graph& g, const Allocation& places, HotFunction* out) : g_(g), places_(places), out_(*out) {}
  void run();

 private:
  // ---- Where values are -------------------------------------------------------------------------

  Location at(ValueId v) const { return places_.locations[v]; }
  static SWord slot(Location l) { return l.number * static_cast<SWord>(sizeof(Word)); }
  static SWord words(SWord n) { return n * static_cast<SWord>(sizeof(Word)); }
  Register reg(Location l) const { return {l.number}; }
  /// The value in a register: its own, or this one.
  Register in(ValueId v, Register otherwise);
  void move_to(Register to, ValueId v) { a_.move(to, in(v, to)); }
  /// The register for a result: its own, or this one, to be stored by `done`.
  Register out(ValueId v, Register otherwise) const {
    return at(v).kind == Location::Kind::kRegister ? reg(at(v)) : otherwise;
  }
  void done(ValueId v, Register r) {
    if (at(v).kind == Location::Kind::kSlot) a_.store(kFrame, slot(at(v)), r);
  }
  void store(Register base, SWord displacement, ValueId v);
  FloatRegister float_in(ValueId v, FloatRegister otherwise);
  FloatRegister float_out(ValueId v) const {
    return at(v).kind == Location::Kind::kFloat ? FloatRegister{at(v).number} : kFloatScratch;
  }
  void done(ValueId v, FloatRegister r) {
    if (at(v).kind == Location::Kind::kSlot) a_.store(kFrame, slot(at(v)), r);
  }

  // ---- Moves that happen at once ----------------------------------------------------------------

  struct Move {
    Location to;
    ValueId from;
  };
  /// Makes all moves, whose targets are different, as if at once.
  void move_all(std::vector<Move> moves);
  static bool is_needed(Location to, const std::vector<Location>& from, const std::vector<bool>& made,
                        std::size_t except);
  void one(const Move& m, Location from);

  // ---- Exits ------------------------------------------------------------------------------------

  static bool is_bare_exit(const Block& b) { return b.end == BlockEnd::kExit && b.code.empty() && !b.entry; }
  Label exit_label(ExitId exit);
  /// Whether a block does nothing but go to another one.
  bool is_mere_jump(const Block& b) const;
  BlockId destination(BlockId id) const;
  Label label_of(BlockId id);
  void write_exit(const Exit& e, Label label);
  /// For tests (leave_more_often): whether to take an exit of the instruction that needs none.
  bool leaves_anyway(ExitId exit, const Word* at);

  // ---- Blocks -----------------------------------------------------------------------------------

  /// What follows belongs to that instruction, in an inlined call that returns there (or nullptr).
  void note_place(const Word* of, const Word* return_to);
  void push(const Word* address);
  void block(BlockId id);
  void entry(const Block& b);
  struct Entering {
    Location to;
    std::uint8_t from;
  };
  /// The parameters of an entry come in the registers of x registers.
  void enter_registers();
  void enter_fun(Label entry);
  void go_to(BlockId to) {
    if (destination(to) != next_) a_.jump(label_of(to));
  }
  void end(const Block& b);
  void call(const Block& b);
  /// Jumps when the condition that has been compared holds, or does not.
  void jump_on(Comparison yes, Comparison no, const Block& b);
  void branch(const Block& b);
  void compare(const Block& b);
  void test_tag(const Block& b, SWord mask, Word tag);
  void select(const Block& b);
  static constexpr std::size_t kMostCasesInTurn = 4;  // more are divided in two halves
  void select(Register v, std::span<const Block::Case> cases, BlockId otherwise);

  // ---- Instructions -----------------------------------------------------------------------------

  void instruction(const Inst& i);
  void need(const Inst& i);
  void arithmetic(const Inst& i);
  void shift(const Inst& i);
  void float_operation(const Inst& i, Assembler::FloatOperation op);
  void put_fun(const Inst& i);
  void call_bif(const Inst& i);
  void call_function(const Inst& i);
  /// Makes a term of a float, at the top of the heap.
  void box(ValueId number, Register to);
  void update_tuple(const Inst& i);
  void element_of_tuple(const Inst& i);
  void map_get(const Inst& i);
  void build(Word header, std::span<const ValueId> elements, ValueId dst);

  // ---- Bit strings (emit_bits.cpp) --------------------------------------------------------------

  void bits_instruction(const Inst& i);
  Register out_beside(ValueId dst, ValueId read_later) const;
  /// The value has been computed in a register.
  void done_in(ValueId v, Register r);
  void shift(Register r, const Shift& by);
  void byte_address(Register to, ValueId base, ValueId bits);
  void bits_at(const Inst& i);
  void store_bytes(const Inst& i);
  void put_binary(const Inst& i);

  const Graph& g_;
  const Allocation& places_;
  HotFunction& out_;
  Assembler a_;
  std::vector<Label> labels_;
  std::unordered_map<ExitId, Label> exits_;
  BlockId next_ = kNone;  // the block that is written next
  const Word *place_ = nullptr, *return_to_ = nullptr;
  std::vector<Entering> entering_;
  /// Code that goes back to the interpreter with an address.
  struct Aside {
    Label label;
    const Word* at;
    const void* stub;
  };
  std::vector<Aside> asides_;
  std::vector<std::function<void()>> later_;  // what writes rare parts of instructions, behind all blocks
  Label used_up_{};
  std::uint64_t drawn_ = 0;
  struct {
    std::uint32_t prefix;
    std::uint16_t bytes;  // that count the call
  } skip_{};
};

}  // namespace vmrun::jit

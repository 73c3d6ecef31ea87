// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "runtime/compile/emit/frames.hpp"
#include "runtime/compile/emit/uses.hpp"

/// Which value is in which register at the current point of the code, which registers hold a term
/// at all, and the instructions that change this: moves, saves, frames. Values get registers on the
/// fly (codegen.hpp). One function; one thread.
namespace vmrun::compile {

/// Heap that the following instructions take.
struct HeapNeed {
  std::uint32_t words = 0, floats = 0, funs = 0;
  bool none() const { return words == 0 && floats == 0 && funs == 0; }
  Operand operand() const;
};

class Registers {
 public:
  /// One of several moves that are done in parallel.
  struct Move {
    Operand from, to;
  };
  /// The contents of registers, whatever value they belong to.
  struct Contents {
    std::vector<bool> x_valid;    // some term
    std::vector<bool> y_written;  // something that a walk of the stack may see
    std::vector<bool> y_stale;    // has held a value since it was last cleared
  };
  struct State {
    std::vector<ValueId> x, y;
    Contents contents;
    std::uint32_t frame;
  };

  Registers(const ir::Function& fn, const ir::Liveness& live, const Uses& uses, Frames& frames);

  /// Sets the list to which instructions are appended.
  void set_output(std::vector<AsmInstr>& out) { out_ = &out; }
  AsmInstr& emit(Bop op, std::vector<Operand> args) {
    out_->push_back({op, std::move(args)});
    if (op != Bop::kLine) {
      for (std::uint32_t slot : pending_) y_written_[slot] = true;
      pending_.clear();
    }
    return out_->back();
  }

  // At the start of a block and around its edges.
  /// Forgets the locations of all values. fragile: parts of a message must not be stored yet.
  void begin_block(bool fragile);
  void set_contents(const Contents& c);
  /// Releases x registers of values that only the other side of the previous branch needed.
  void release_unneeded();
  State state() const;
  void restore(State s);
  /// Records that all of `values`, and no other values, are on the stack.
  void keep_on_stack(std::span<const ValueId> values);
  /// Returns the x or y register of a value, or -1.
  std::int32_t x_of(ValueId v) const { return loc_x_[v]; }
  std::int32_t y_of(ValueId v) const { return loc_y_[v]; }
  const std::vector<bool>& x_valid() const { return x_valid_; }
  const std::vector<bool>& y_written() const { return y_written_; }
  const std::vector<bool>& y_stale() const { return y_stale_; }

  // Around an instruction.
  /// From here on the next instruction reads its arguments.
  void begin_instruction() { read_now_.clear(); }
  Operand where(ValueId v) const;
  Operand operand(Arg a) const { return a.is_value() ? where(a.value) : Operand::of(a.literal); }
  void release(ValueId v);
  void release_dead(std::span<const Arg> args, std::uint32_t at);
  /// Releases the registers of all values except these.
  void release_others(std::span<const ValueId> wanted);
  Operand define(ValueId v, std::uint32_t at, bool allow_y = true);
  /// Records that an instruction has written `o`, which a collection in it may have invalidated.
  void wrote(const Operand& o) {
    if (o.kind != Operand::kX) return;
    grow(x_valid_, o.n + 1);
    x_valid_[o.n] = true;
  }
  void set_x(std::uint32_t r, ValueId v);
  void set_y(std::uint32_t r, ValueId v);
  void save(ValueId v);
  /// Stores values that must be stored before the next call anyway.
  void save_before_clobber(std::uint32_t at);
  void trade_places(const Instr& i, std::uint32_t at);
  void to_registers(std::span<const Arg> args, std::uint32_t at, bool saves);
  void move(Operand from, Operand to);
  void parallel(std::vector<Move> moves);

  // Collections, calls, frames.
  std::uint32_t x_top() const;
  std::uint32_t live_x();
  void clobber();
  void collection(std::uint32_t live);
  void stack_walk();
  void forget_dead();
  /// Makes a frame, with heap for the following instructions.
  void open_frame(const HeapNeed& need);
  /// Records that the tag of a try or catch is in a slot from here on.
  void place_tag(ValueId tag, std::uint32_t slot);

 private:
  void drop_x(std::uint32_t r);
  std::uint32_t free_x() const;
  std::uint32_t free_y(bool before_read = false);
  std::uint32_t place_to_swap(std::uint32_t next) const;

  const ir::Function& fn_;
  const ir::Liveness& live_;
  const Uses& uses_;
  Frames& frames_;
  std::vector<AsmInstr>* out_ = nullptr;
  std::vector<ValueId> x_;     // the value in x register i, or kNone
  std::vector<bool> x_valid_;  // the register holds some term
  std::vector<ValueId> y_;
  std::vector<bool> y_written_;
  std::vector<bool> y_stale_;           // has held a value since it was last cleared
  std::vector<std::uint32_t> pending_;  // y registers that the next instruction writes for the first time
  std::vector<std::int32_t> loc_x_, loc_y_;  // indexed by value; -1: in no register
  std::vector<ValueId> resident_;            // values that may have a location
  std::vector<std::uint32_t> read_now_;      // y registers that the current instruction reads for the last
                                             // time
  std::vector<bool> small_;                  // indexed by value: a number or an atom, which keeps no memory
                                             // alive
  std::vector<bool> wanted_;                 // indexed by value: scratch of release_others
  bool fragile_ = false;                     // between loop_rec and remove_message
};

}  // namespace vmrun::compile

#pragma once
// The state of code generation for one function; see codegen_frame.hpp for how it works. Methods
// are spread over gen_registers.cpp (who is where), gen_blocks.cpp (frames, edges, ends of blocks)
// and gen_instr.cpp (single instructions).

#include "runtime/compile/emit/codegen_frame.hpp"
#include "runtime/compile/ssa/bif_info.hpp"

namespace vmrun::compile {

using ssa::Arg;
using ssa::Block;
using ssa::BlockId;
using ssa::Instr;
using ssa::kNone;
using ssa::Op;
using ssa::ValueId;

class FunctionGen {
 public:
  FunctionGen(CodeBuilder& builder, ssa::Program& program, ssa::Function& fn,
              const std::vector<std::uint32_t>& entries, std::uint32_t info_label);
  void run();

 private:
  static constexpr std::uint32_t kForever = 0xFFFFFFFF;

  /// One move to be done together with others.
  struct Move {
    Operand from, to;
  };

  /// What holds at the start of a block.
  struct Place {
    ValueId value;
    std::int32_t x, y;
  };
  struct Entry {
    bool set = false;
    std::vector<Place> places;
    std::vector<bool> x_valid;
    std::vector<bool> y_written;
    std::vector<bool> y_stale;
    std::vector<Operand> params;
    std::uint32_t frame = kNone;
    std::uint32_t label = 0;
    bool wanted = false;  // somebody jumps to the label
  };
  /// One allocate instruction; frames that meet at a join are one (union-find through `same_as`).
  struct Frame {
    std::uint32_t same_as;
    std::uint32_t slots = 0;
    bool seen_collection = false;
    std::vector<bool> written;  // at every collection so far
  };
  struct Use {
    std::uint32_t block = kNone;
    std::uint32_t last = 0;
  };

  // gen_registers.cpp
  void grow(std::vector<bool>& v, std::size_t n) {
    if (v.size() < n) v.resize(n);
  }
  Operand where(ValueId v) const;
  Operand operand(Arg a) const { return a.is_value() ? where(a.value) : Operand::of(a.literal); }
  /// Argument k of a test or built-in, with what is known of it.
  Operand typed_operand(const Instr& i, std::size_t k) const {
    Operand o = operand(i.args[k]);
    if (o.is_reg() && k < i.types.size()) o.type = builder_.type(i.types[k]);
    return o;
  }
  bool dies(ValueId v, std::uint32_t at) const;
  void release(ValueId v);
  void release_dead(std::span<const Arg> args, std::uint32_t at);
  void set_x(std::uint32_t r, ValueId v);
  void set_y(std::uint32_t r, ValueId v);
  void drop_x(std::uint32_t r);
  std::uint32_t free_x() const;
  std::uint32_t free_y(bool before_read = false);
  std::uint32_t x_top() const;
  std::uint32_t live_x();
  Operand define(ValueId v, std::uint32_t at, bool allow_y = true);
  std::uint32_t next_clobber(std::uint32_t at) const;
  std::uint32_t place_to_swap(std::uint32_t next) const;
  bool outlasts(ValueId v, std::uint32_t at) const;
  void save(ValueId v);
  void clobber();
  void collection(std::uint32_t live);
  void stack_walk();
  void forget_dead();
  void parallel(std::vector<Move> moves);
  void move(Operand from, Operand to);
  void to_registers(std::span<const Arg> args, std::uint32_t at, bool saves);

  // gen_blocks.cpp
  void plan_frames();
  bool needs_frame(const Block& b) const;
  std::uint32_t nesting(const Block& b) const;
  void enter_block(BlockId id);
  void allocate(std::uint32_t heap_from);
  std::uint32_t frame_root(std::uint32_t f);
  void set_entry(BlockId to, std::span<const Arg> args);
  std::vector<Move> conform(BlockId to, std::span<const Arg> args);
  void join_frames(BlockId to);
  std::uint32_t edge(BlockId to);
  void goto_block(BlockId to, std::span<const Arg> args);
  std::uint32_t label_of(BlockId b);
  void terminate(BlockId id);
  void error(const Block& b);
  void finish_frames();

  // gen_instr.cpp
  void block_code(BlockId id);
  std::uint32_t instruction(std::uint32_t at);
  void call(const Instr& i, std::uint32_t at);
  void tail_call(const Instr& i);
  void call_fun_last(const Instr& i, std::uint32_t at);
  void bif(const Instr& i, std::uint32_t at, BlockId fail);
  void put_map(const Instr& i, std::uint32_t at, BlockId fail);
  void create_binary(const Instr& i, std::uint32_t at, BlockId fail);
  std::uint32_t fail_label(BlockId fail) { return fail == kNone ? 0 : edge(fail); }
  void trade_places(const Instr& i, std::uint32_t at);
  bool tail_position(std::uint32_t at) const;
  void fallible(const Instr& i, std::uint32_t at, BlockId fail);
  void test(const Instr& i, std::uint32_t fail);
  void read_map(const Instr& i, std::uint32_t at, BlockId fail);
  void read_bits(const Instr& i, std::uint32_t at, BlockId fail);
  void reserve_heap(std::uint32_t at);
  Operand float_in(Arg a, std::uint32_t at);
  Operand float_out(ValueId v, std::uint32_t at);
  void float_load(const Instr& i, std::uint32_t at);
  struct HeapNeed {
    std::uint32_t words = 0, floats = 0, funs = 0;
    bool none() const { return words == 0 && floats == 0 && funs == 0; }
    Operand operand() const;
  };
  HeapNeed heap_need(std::uint32_t at) const;
  Operand define_result(const Instr& i, std::uint32_t at, BlockId fail);
  void line(Loc loc);
  Term ssa_cons(Term head, Term tail);

  AsmInstr& emit(Bop op, std::vector<Operand> args) {
    out_->push_back({op, std::move(args)});
    if (op != Bop::kLine) {
      for (std::uint32_t slot : pending_) y_written_[slot] = true;
      pending_.clear();
    }
    return out_->back();
  }

  CodeBuilder& builder_;
  ssa::Program& program_;
  ssa::Function& fn_;
  const std::vector<std::uint32_t>& entries_;
  const std::uint32_t info_label_;
  const std::uint32_t self_;  // index of the function
  ssa::Liveness live_;
  std::vector<AsmInstr>* out_;
  std::vector<AsmInstr> main_;
  std::vector<std::vector<AsmInstr>> stubs_;  // by the block they lead to
  std::vector<Entry> entry_;
  std::vector<bool> framed_in_;
  // between loop_rec and remove_message: parts of the message must not be stored
  std::vector<bool> fragile_in_;
  std::vector<Frame> frames_;
  std::vector<Use> use_;
  std::vector<bool> small_;  // by value: a number or an atom, which keeps no memory alive
  std::uint32_t tag_slots_ =
      // the lowest y registers are for tags of try and catch, the innermost lowest: that is how the
      // machine finds it
      0;

  // State at the present point.
  BlockId id_ = kNone;
  BlockId next_ = kNone;        // the block laid out after this one
  bool falls_through_ = false;  // the code so far runs on into that
  const Block* block_ = nullptr;
  std::vector<ValueId> x_;     // who is in x register i, or kNone
  std::vector<bool> x_valid_;  // holds some term
  std::vector<ValueId> y_;
  std::vector<bool> y_written_;
  std::vector<bool> y_stale_;           // held a value since it was last cleared
  std::vector<std::uint32_t> pending_;  // y registers that the next instruction writes for the first time
  std::vector<std::int32_t> loc_x_, loc_y_;  // by value, -1: not there
  std::unordered_map<ValueId, std::uint32_t> loc_fr_;
  std::vector<bool> fr_taken_;
  std::vector<ValueId> resident_;        // values that may have a location
  std::vector<std::uint32_t> read_now_;  // y registers the present instruction reads for the last time
  bool fragile_ = false;
  std::uint32_t frame_ = kNone;
  std::uint32_t heap_until_ = 0;  // heap is reserved for instructions of the block before this one
  // by value: the latest block whose likely successor needs it (scratch of define_result)
  std::vector<BlockId> wanted_;
  std::vector<std::uint32_t> clobbers_;  // positions of clobbering instructions in this block
};

}  // namespace vmrun::compile

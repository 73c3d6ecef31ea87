// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "runtime/compile/emit/edges.hpp"
#include "vm/ir/bif_info.hpp"

/// Single instructions of a block: the code of each operation, its operands and results, and the
/// heap it needs. One function; one thread.
namespace vmrun::compile {

class InstrGen {
 public:
  InstrGen(CodeBuilder& builder, ir::Program& program, ir::Function& fn,
           const std::vector<std::uint32_t>& entries, Uses& uses, Frames& frames, Registers& registers,
           Edges& edges)
      : builder_(builder),
        program_(program),
        fn_(fn),
        entries_(entries),
        self_(static_cast<std::uint32_t>(&fn - program.functions.data())),
        uses_(uses),
        frames_(frames),
        regs_(registers),
        edges_(edges) {}

  void begin_block() { heap_until_ = 0; }
  /// Records that heap is reserved for the instructions from `at` up to the next one that may
  /// collect.
  void heap_reserved_from(std::uint32_t at);
  std::uint32_t instruction(std::uint32_t at);
  void fallible(const Instr& i, std::uint32_t at, BlockId fail);
  HeapNeed heap_need(std::uint32_t at) const;
  void line(Loc loc);

 private:
  /// Returns argument k of a test or built-in, with what is known about it.
  Operand typed_operand(const Instr& i, std::size_t k) const {
    Operand o = regs_.operand(i.args[k]);
    if (o.is_reg() && k < i.types.size()) o.type = builder_.type(i.types[k]);
    return o;
  }
  bool get_list(std::uint32_t at);
  void construct(const Instr& i, std::uint32_t at);
  void call(const Instr& i, std::uint32_t at);
  void tail_call(const Instr& i);
  void call_fun_last(const Instr& i, std::uint32_t at);
  void bif(const Instr& i, std::uint32_t at, BlockId fail);
  void put_map(const Instr& i, std::uint32_t at, BlockId fail);
  void create_binary(const Instr& i, std::uint32_t at, BlockId fail);
  std::uint32_t fail_label(BlockId fail) { return fail == kNone ? 0 : edges_.edge(fail); }
  bool tail_position(std::uint32_t at) const;
  void test(const Instr& i, std::uint32_t fail);
  void read_map(const Instr& i, std::uint32_t at, BlockId fail);
  void put_record(const Instr& i, std::uint32_t at);
  void record_field(const Instr& i, std::uint32_t at, BlockId fail);
  void test_unit(std::uint32_t label, const Operand& context, Operand unit);
  void read_bits(const Instr& i, std::uint32_t at, BlockId fail);
  void reserve_heap(std::uint32_t at);
  Operand float_in(Arg a, std::uint32_t at);
  Operand float_out(ValueId v, std::uint32_t at);
  void float_load(const Instr& i, std::uint32_t at);
  Operand define_result(const Instr& i, std::uint32_t at, BlockId fail);
  Term ssa_cons(Term head, Term tail);

  CodeBuilder& builder_;
  ir::Program& program_;
  ir::Function& fn_;
  const std::vector<std::uint32_t>& entries_;
  const std::uint32_t self_;  // index of the function
  Uses& uses_;
  Frames& frames_;
  Registers& regs_;
  Edges& edges_;
  std::unordered_map<ValueId, std::uint32_t> loc_fr_;
  std::vector<bool> fr_taken_;
  std::uint32_t heap_until_ = 0;  // heap is reserved for instructions of the block before this one
};

}  // namespace vmrun::compile

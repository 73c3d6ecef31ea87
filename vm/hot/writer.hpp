// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "vm/hot/evaluator.hpp"
#include "vm/hot/known.hpp"
#include "vm/hot/specialiser.hpp"

/// Machine code as it is written: what is left to be done of instructions that depend on more than
/// is known. What is known is put where it is used; into a register only when something asks for
/// that.
namespace vmrun {

class Writer {
 public:
  Writer(const LoopCode& loop, Evaluator& evaluator, HotFunction& out)
      : loop_(loop), evaluator_(evaluator), out_(out) {}

  std::uint32_t here() const { return static_cast<std::uint32_t>(out_.code.size()); }
  void put(std::initializer_list<unsigned> bytes);
  /// Four bytes: the distance from behind them, filled in by set_distance; or to an address, once
  /// it is known where the code will be. `put_distance` returns where they are.
  std::uint32_t put_distance();
  void set_distance(std::uint32_t at, std::uint32_t to);
  void put_distance_to(const void* target);
  void jump_to(const void* target);
  void encode(const ZydisEncoderRequest& request, const void* rip_target = nullptr);

  /// The processor's register holds what is known of it; flags stay.
  void settle(x86::State& s, int r);
  void settle_all(x86::State& s);
  /// The instruction, which is no jump and no call.
  void perform(const x86::Instruction& in, x86::State& s);
  void call(const x86::Instruction& in, x86::State& s);

  /// Back to where it was.
  struct Mark {
    std::size_t code, fixups;
  };
  Mark mark() const { return {out_.code.size(), out_.fixups.size()}; }
  void take_back(Mark m);

 private:
  struct Folded {
    ZydisRegister base, index;
    std::int64_t displacement;
  };
  std::optional<Folded> fold(x86::State& s, const ZydisDecodedOperand& o);
  std::optional<SWord> second_as_immediate(const x86::Instruction& in, const x86::State& s);
  void settle_reads(const x86::Instruction& in, x86::State& s, bool but_second);
  void write_changed(const x86::Instruction& in, x86::State& s, std::optional<SWord> second,
                     std::optional<ZydisMnemonic> instead = {});
  void perform_anyhow(const x86::Instruction& in, x86::State& s);
  bool perform_by_flags(const x86::Instruction& in, x86::State& s);
  void move_if(bool holds, const x86::Instruction& in, x86::State& s);
  void set_byte(bool value, const ZydisDecodedOperand& to, x86::State& s);
  void load_operation(x86::State& s, int r);

  const LoopCode& loop_;
  Evaluator& evaluator_;
  HotFunction& out_;
};

}  // namespace vmrun

// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/emit/function_gen.hpp"

#include "runtime/compile/emit/instr_gen.hpp"

namespace vmrun::compile {

using ir::BlockEnd;
using ir::Fail;

namespace {

class FunctionGen {
 public:
  FunctionGen(CodeBuilder& builder, ir::Program& program, ir::Function& fn,
              const std::vector<std::uint32_t>& entries, std::uint32_t info_label)
      : fn_(fn),
        info_label_(info_label),
        live_(ir::analyse(fn)),
        edges_(builder, fn, live_, uses_, frames_, regs_),
        instrs_(builder, program, fn, entries, uses_, frames_, regs_, edges_) {}
  std::vector<AsmInstr> run();

 private:
  void block_code(BlockId id);
  void terminate(BlockId id);
  void error(const Block& b);

  ir::Function& fn_;
  const std::uint32_t info_label_;
  ir::Liveness live_;
  Frames frames_;
  Uses uses_{fn_, live_};
  Registers regs_{fn_, live_, uses_, frames_};
  Edges edges_;
  InstrGen instrs_;
};

void FunctionGen::error(const Block& b) {
  const auto at = static_cast<std::uint32_t>(b.code.size());
  if (b.error == Fail::kFunctionClause) {
    std::vector<Arg> params = b.jump_args;
    if (params.empty())
      for (ValueId v : fn_.params) params.push_back(Arg::of(v));
    regs_.to_registers(params, at, false);
    if (frames_.open_now()) regs_.emit(Bop::kDeallocate, {Operand::u(frames_.current())});
    regs_.emit(Bop::kJump, {Operand::label(info_label_)});
    return;
  }
  regs_.stack_walk();
  instrs_.line(b.loc);
  switch (b.error) {
    case Fail::kCaseClause: regs_.emit(Bop::kCaseEnd, {regs_.operand(b.subject)}); break;
    case Fail::kBadmatch: regs_.emit(Bop::kBadmatch, {regs_.operand(b.subject)}); break;
    case Fail::kTryClause: regs_.emit(Bop::kTryCaseEnd, {regs_.operand(b.subject)}); break;
    case Fail::kBadrecord: regs_.emit(Bop::kBadrecord, {regs_.operand(b.subject)}); break;
    default: regs_.emit(Bop::kIfEnd, {}); break;
  }
}

void FunctionGen::terminate(BlockId id) {
  const Block& b = fn_.blocks[id];
  regs_.begin_instruction();
  switch (b.end) {
    case BlockEnd::kJump: edges_.goto_block(b.succ, b.jump_args); break;
    case BlockEnd::kFallible: edges_.goto_block(b.succ, {}); break;
    case BlockEnd::kReturn:
      regs_.move(regs_.operand(b.subject), Operand::x(0));
      regs_.stack_walk();
      if (frames_.open_now()) regs_.emit(Bop::kDeallocate, {Operand::u(frames_.current())});
      regs_.emit(Bop::kReturn, {});
      break;
    case BlockEnd::kError: error(b); break;
    case BlockEnd::kSwitchValue:
    case BlockEnd::kSwitchArity: {
      const bool value = b.end == BlockEnd::kSwitchValue;
      std::vector<Operand> cases;
      for (const ir::SwitchCase& c : b.cases) {
        cases.push_back(value ? Operand::of(c.value)
                              : Operand::u(static_cast<std::uint64_t>(c.value.small_value())));
        cases.push_back(Operand::label(edges_.edge(c.to)));
      }
      std::vector<Operand> args{regs_.operand(b.subject), Operand::label(edges_.edge(b.fail)),
                                Operand::list(cases.size())};
      args.insert(args.end(), cases.begin(), cases.end());
      regs_.emit(value ? Bop::kSelectVal : Bop::kSelectTupleArity, std::move(args));
      break;
    }
    case BlockEnd::kTry:
    case BlockEnd::kCatch: {
      for (ValueId v : fn_.blocks[b.fail].live_in)
        if (v != b.tag) regs_.save(v);
      const std::uint32_t slot = frames_.tag_slots - 1 - edges_.nesting(b);
      regs_.place_tag(b.tag, slot);
      edges_.set_entry(b.fail, {});
      regs_.emit(b.end == BlockEnd::kTry ? Bop::kTry : Bop::kCatch,
                 {Operand::y(slot), Operand::label(edges_.label_of(b.fail))});
      edges_.goto_block(b.succ, {});
      break;
    }
    case BlockEnd::kLoopRec: {
      const std::uint32_t wait = edges_.edge(b.fail);
      regs_.set_x(0, b.tag);
      regs_.emit(Bop::kLoopRec, {Operand::label(wait), Operand::x(0)});
      edges_.goto_block(b.succ, {});
      break;
    }
    case BlockEnd::kLoopRecEnd:
      regs_.emit(Bop::kLoopRecEnd, {Operand::label(edges_.label_of(b.succ))});
      break;
    case BlockEnd::kWait:  // directly behind its label, without a line: some loaders need that
      regs_.emit(Bop::kWait, {Operand::label(edges_.label_of(b.succ))});
      break;
    case BlockEnd::kWaitTimeout:
      regs_.emit(Bop::kWaitTimeout, {Operand::label(edges_.label_of(b.fail)), regs_.operand(b.subject)});
      edges_.goto_block(b.succ, {});
      break;
    case BlockEnd::kUnreachable:
    case BlockEnd::kNone: break;
  }
}

void FunctionGen::block_code(BlockId id) {
  const Block& b = fn_.blocks[id];
  if (b.end == BlockEnd::kLoopRec || b.is_loop_head) regs_.collection(0);
  instrs_.begin_block();
  bool frame_due = !edges_.framed(id) && needs_frame(b);
  for (std::uint32_t at = 0; at < b.code.size();) {
    regs_.begin_instruction();
    if (frame_due && b.code[at].op != Op::kRemoveMessage && b.code[at].op != Op::kTimeout) {
      regs_.open_frame(instrs_.heap_need(at));
      instrs_.heap_reserved_from(at);
      frame_due = false;
      // Values that must be saved anyway are saved before the stack can be walked, so that fewer
      // slots need initialisation.
      regs_.save_before_clobber(at);
    }
    const bool last = at + 1 == b.code.size();
    if (last && b.end == BlockEnd::kFallible) {
      instrs_.fallible(b.code[at], at, b.fail);
      break;
    }
    at = instrs_.instruction(at);
    if (at == kNone) return;  // ended in a tail call
  }
  if (frame_due) regs_.open_frame({});
  terminate(id);
}

std::vector<AsmInstr> FunctionGen::run() {
  edges_.plan_frames();
  edges_.enter_function();
  for (std::size_t k = 0; k < live_.order.size(); ++k) {
    const BlockId id = live_.order[k];
    edges_.enter_block(id, k + 1 < live_.order.size() ? live_.order[k + 1] : kNone);
    block_code(id);
  }
  return edges_.finish();
}

}  // namespace

void generate_function(CodeBuilder& builder, ir::Program& program, ir::Function& fn,
                       const std::vector<std::uint32_t>& entries, std::uint32_t info_label) {
  std::vector<AsmInstr> more = FunctionGen(builder, program, fn, entries, info_label).run();
  std::vector<AsmInstr>& code = builder.code().code;
  code.insert(code.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace vmrun::compile

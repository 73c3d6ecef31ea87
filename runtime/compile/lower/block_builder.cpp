// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/lower/block_builder.hpp"

#include "vm/term/atom.hpp"

namespace vmrun::compile::lower {

BlockId BlockBuilder::new_join(std::size_t params) {
  BlockId b = new_block();
  for (std::size_t i = 0; i < params; ++i) fn_.blocks[b].params.push_back(fn_.new_value());
  return b;
}

void BlockBuilder::jump(BlockId to, std::vector<Arg> args) {
  Block& b = cur();
  if (b.end != BlockEnd::kNone) return;
  b.end = BlockEnd::kJump;
  b.succ = to;
  b.jump_args = std::move(args);
}

void BlockBuilder::finish(Dest d, Arg v) {
  if (d.kind == Dest::kReturn) {
    cur().end = BlockEnd::kReturn;
    cur().subject = v;
  } else if (fn_.blocks[d.join].params.empty()) {
    jump(d.join);
  } else {
    jump(d.join, {v});
  }
}

void BlockBuilder::error(Fail kind, Arg subject, Loc loc) {
  if (kind == Fail::kElseClause) {
    const Arg reason = emit_value(Op::kPutTuple, {Arg::lit(atoms::else_clause), subject});
    emit_value(Op::kCallExt, {Arg::lit(atoms::erlang), Arg::lit(atoms::error), reason}, loc);
    cur().end = BlockEnd::kUnreachable;
    return;
  }
  Block& b = cur();
  b.end = BlockEnd::kError;
  b.error = kind;
  // Errors of other kinds do not show the value that did not match.
  const bool shows = kind == Fail::kCaseClause || kind == Fail::kBadmatch || kind == Fail::kTryClause ||
                     kind == Fail::kBadrecord;
  b.subject = shows ? subject : Arg::lit(Term::nil());
  b.loc = loc;
}

Instr& BlockBuilder::emit(Op op, const std::vector<Arg>& args, Loc loc) {
  Instr i{.op = op};
  i.loc = loc;
  i.args = arena_.copy(args);
  cur().code.push_back(i);
  return cur().code.back();
}

Arg BlockBuilder::emit_value(Op op, const std::vector<Arg>& args, Loc loc, std::uint64_t imm) {
  Instr& i = emit(op, args, loc);
  i.imm = imm;
  ValueId v = fn_.new_value();
  i.dsts = arena_.copy(&v, 1);
  return Arg::of(v);
}

void BlockBuilder::test(Test t, const std::vector<Arg>& args, BlockId yes, BlockId no, std::uint64_t imm) {
  Instr i{.op = Op::kTest};
  i.test = t;
  i.imm = imm;
  i.args = arena_.copy(args);
  Block& b = cur();
  b.code.push_back(i);
  b.end = BlockEnd::kFallible;
  b.succ = yes;
  b.fail = no;
}

void BlockBuilder::fallible(Instr i, BlockId fail) {
  cur().code.push_back(i);
  if (fail == kNone) return;
  const BlockId next = new_block();
  Block& b = cur();
  b.end = BlockEnd::kFallible;
  b.succ = next;
  b.fail = fail;
  start(next);
}

}  // namespace vmrun::compile::lower

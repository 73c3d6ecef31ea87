// SPDX-License-Identifier: Apache-2.0
#include "vm/jit/emit_code.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "vm/code/instructions.hpp"
#include "vm/jit/code_emitter.hpp"
#include "vm/jit/process_offsets.hpp"
#include "vm/term/fun.hpp"

namespace vmrun::jit {

using Kind = Location::Kind;

namespace {
std::uint64_t drawing_seed = 0;
}
void leave_more_often(std::uint64_t seed) { drawing_seed = seed; }

bool Emitter::leaves_anyway(ExitId exit, const Word* at) {
  const Exit& e = g_.exits[exit];
  if (drawing_seed == 0 || e.at != at || e.how > How::kGuessed || e.is_asked_for) return false;
  drawn_ = drawn_ * 6364136223846793005 + 1442695040888963407;  // Knuth, MMIX
  return (drawn_ >> 33) % 3 == 0;
}

void Emitter::run() {
  const FunctionHeader& f = *header_of_entry(g_.function);
  drawn_ = drawing_seed ^ export_hash(f.module, f.function, f.arity);
  labels_.resize(g_.blocks.size());
  for (const BlockId id : places_.layout) labels_[id] = a_.label();
  std::vector<BlockId> written;
  for (const BlockId id : places_.layout)
    if (!is_bare_exit(g_.blocks[id]) && !is_mere_jump(g_.blocks[id])) written.push_back(id);
  for (std::size_t n = 0; n < written.size(); ++n) {
    next_ = n + 1 < written.size() && !g_.blocks[written[n + 1]].entry ? written[n + 1] : kNone;
    block(written[n]);
  }
  for (const auto& write : later_) write();
  for (const auto& [exit, label] : exits_) write_exit(g_.exits[exit], label);
  for (const Aside& s : asides_) {
    a_.bind(s.label);
    note_place(s.at, nullptr);
    a_.move(kAddress, reinterpret_cast<Word>(s.at));
    a_.jump_outward(s.stub);
  }
  a_.bind(used_up_);
  a_.move(kAddress, reinterpret_cast<Word>(g_.function));
  a_.jump_outward(stubs.yield);
  out_.code = a_.finish();
  if (out_.code.empty()) return;
  std::memcpy(out_.code.data() + skip_.prefix + offsetof(CodePrefix, skip), &skip_.bytes, 2);
  out_.fixups = a_.outward();
}

Register Emitter::in(ValueId v, Register otherwise) {
  if (g_.is_const(v)) {
    a_.move(otherwise, g_.imms[v]);
    return otherwise;
  }
  const Location l = at(v);
  if (l.kind == Kind::kRegister) return reg(l);
  a_.load(otherwise, kFrame, slot(l));
  return otherwise;
}

void Emitter::store(Register base, SWord displacement, ValueId v) {
  if (g_.is_const(v)) a_.store(base, displacement, g_.imms[v]);
  else a_.store(base, displacement, in(v, kScratch));
}

FloatRegister Emitter::float_in(ValueId v, FloatRegister otherwise) {
  const Location l = at(v);
  if (l.kind == Kind::kFloat) return {l.number};
  a_.load(otherwise, kFrame, slot(l));
  return otherwise;
}

void Emitter::move_all(std::vector<Move> moves) {
  std::erase_if(moves, [&](const Move& m) { return !g_.is_const(m.from) && at(m.from) == m.to; });
  // What a location has may be elsewhere by now.
  std::vector<Location> from;
  for (const Move& m : moves) from.push_back(g_.is_const(m.from) ? Location{} : at(m.from));
  std::vector<bool> made(moves.size());
  for (std::size_t left = moves.size(); left;) {
    bool any = false;
    for (std::size_t n = 0; n < moves.size(); ++n) {
      if (made[n] || is_needed(moves[n].to, from, made, n)) continue;
      one(moves[n], from[n]);
      made[n] = any = true;
      --left;
    }
    if (any || !left) continue;
    // Only cycles are left: one register's value waits in a scratch register meanwhile.
    std::size_t n = 0;
    while (made[n]) ++n;
    const Location stuck = moves[n].to;
    Location aside;
    if (stuck.kind == Kind::kFloat) {
      a_.move(kFloatScratch, FloatRegister{stuck.number});
      aside = {Kind::kFloat, kFloatScratch.number};
    } else {
      if (stuck.kind == Kind::kSlot) a_.load(kScratch2, kFrame, slot(stuck));
      else a_.move(kScratch2, reg(stuck));
      aside = {Kind::kRegister, kScratch2.number};
    }
    for (std::size_t k = 0; k < from.size(); ++k)
      if (!made[k] && from[k] == stuck) from[k] = aside;
  }
}

bool Emitter::is_needed(Location to, const std::vector<Location>& from, const std::vector<bool>& made,
                        std::size_t except) {
  for (std::size_t k = 0; k < from.size(); ++k)
    if (!made[k] && k != except && from[k] == to) return true;
  return false;
}

void Emitter::one(const Move& m, Location from) {
  if (from.kind == Kind::kFloat || m.to.kind == Kind::kFloat) {
    if (m.to.kind == Kind::kSlot) a_.store(kFrame, slot(m.to), FloatRegister{from.number});
    else if (from.kind == Kind::kFloat) a_.move(FloatRegister{m.to.number}, FloatRegister{from.number});
    else a_.load(FloatRegister{m.to.number}, kFrame, slot(from));
  } else if (m.to.kind == Kind::kRegister) {
    if (from.kind == Kind::kNowhere) a_.move(reg(m.to), g_.imms[m.from]);
    else if (from.kind == Kind::kSlot) a_.load(reg(m.to), kFrame, slot(from));
    else a_.move(reg(m.to), reg(from));
  } else {
    Register r = kScratch;
    if (from.kind == Kind::kNowhere) return a_.store(kFrame, slot(m.to), g_.imms[m.from]);
    if (from.kind == Kind::kSlot) a_.load(r, kFrame, slot(from));
    else r = reg(from);
    a_.store(kFrame, slot(m.to), r);
  }
}

Label Emitter::exit_label(ExitId exit) {
  const auto [it, is_new] = exits_.try_emplace(exit);
  if (is_new) it->second = a_.label();
  return it->second;
}

bool Emitter::is_mere_jump(const Block& b) const {
  if (b.end != BlockEnd::kJump || !b.code.empty() || b.entry) return false;
  const Block& to = g_.blocks[b.to];
  for (std::size_t n = 0; n < b.args.size(); ++n) {
    const Location place = at(to.params[n]);
    if (place.kind != Kind::kNowhere && (g_.is_const(b.args[n]) || !(at(b.args[n]) == place))) return false;
  }
  return true;
}

BlockId Emitter::destination(BlockId id) const {
  while (is_mere_jump(g_.blocks[id])) id = g_.blocks[id].to;
  return id;
}

Label Emitter::label_of(BlockId id) {
  id = destination(id);
  const Block& b = g_.blocks[id];
  return is_bare_exit(b) ? exit_label(b.exit) : labels_[id];
}

void Emitter::write_exit(const Exit& e, Label label) {
  a_.bind(label);
  note_place(e.at, e.return_to);
  if (e.return_to) push(e.return_to);
  for (const Exit::Register& r : e.registers) {
    if (!g_.is_float(r.value)) {
      store(kXRegisters, x_at(r.x), r.value);
      continue;
    }
    box(r.value, kScratch);
    a_.store(kXRegisters, x_at(r.x), kScratch);
  }
  if (!e.floats.empty()) a_.load(kScratch2, kFrame, words(kFloatsSlot));
  for (const Exit::Register& r : e.floats) a_.store(kScratch2, words(r.x), float_in(r.value, kFloatScratch));
  a_.move(kAddress, reinterpret_cast<Word>(e.at));
  a_.jump_outward(stubs.leave[static_cast<unsigned>(e.how)]);
}

void Emitter::note_place(const Word* of, const Word* return_to) {
  if (of != place_) out_.places.push_back({of, a_.here()});
  if (return_to != return_to_) out_.inlined_calls.push_back({return_to, a_.here()});
  place_ = of;
  return_to_ = return_to;
}

void Emitter::push(const Word* address) {
  a_.move(kScratch2, reinterpret_cast<Word>(address));
  a_.store(kStack, -words(1), kScratch2);
  a_.add(kStack, -words(1));
}

void Emitter::block(BlockId id) {
  const Block& b = g_.blocks[id];
  if (b.entry) entry(b);
  a_.bind(labels_[id]);
  const Word* return_to = b.inlined_return;
  for (const Inst& i : b.code) {
    if (i.op == Op::kCountCall) return_to = reinterpret_cast<const Word*>(i.imm);
    note_place(i.at, return_to);
    if (i.op == Op::kPushReturn) return_to = nullptr;
    instruction(i);
  }
  if (b.at) note_place(b.at, return_to);
  end(b);
}

void Emitter::entry(const Block& b) {
  const bool is_function = b.entry == g_.function;
  CodePrefix prefix{};
  a_.align_behind(sizeof prefix);
  const std::uint32_t prefix_at = a_.here();
  a_.data(&prefix, sizeof prefix);
  out_.entries.push_back({b.entry, a_.here()});
  note_place(b.entry, nullptr);
  if (is_function) {
    if (g_.fun) {
      const Label label = a_.label();
      a_.bind(label);
      later_.push_back([this, label] { enter_fun(label); });
    }
    const std::uint32_t from = a_.here();
    used_up_ = a_.label();
    a_.count_down(kProcess, kReductions);
    a_.jump_if_not_positive(used_up_);
    skip_ = {prefix_at, static_cast<std::uint16_t>(a_.here() - from)};
  }
  for (const ValueId p : b.params) {
    const Location to = at(p);
    if (to.kind == Kind::kNowhere) continue;
    entering_.push_back({to, static_cast<std::uint8_t>(g_.imms[p])});
  }
  enter_registers();
}

/// The fun is in kScratch. Its free variables follow the arguments.
void Emitter::enter_fun(Label entry) {
  note_place(g_.function, nullptr);
  out_.fun_entry = a_.here();
  for (unsigned n = 0; n < g_.fun->free_count; ++n) {
    const unsigned x = g_.fun->arity + n;
    const Register to = x < kRegisterArguments ? Register{static_cast<std::uint8_t>(x)} : kScratch2;
    a_.load(to, kScratch, free_variable(n));
    if (to == kScratch2) a_.store(kXRegisters, x_at(x), to);
  }
  a_.jump(entry);
}

void Emitter::enter_registers() {
  std::erase_if(entering_, [](const Entering& e) { return e.to == Location{Kind::kRegister, e.from}; });
  while (!entering_.empty()) {
    bool any = false;
    for (std::size_t n = 0; n < entering_.size(); ++n) {
      const Entering e = entering_[n];
      bool needed = false;
      for (std::size_t k = 0; k < entering_.size(); ++k)
        needed |= k != n && e.to == Location{Kind::kRegister, entering_[k].from};
      if (needed) continue;
      if (e.to.kind == Kind::kSlot) a_.store(kFrame, slot(e.to), Register{e.from});
      else a_.move(reg(e.to), Register{e.from});
      entering_.erase(entering_.begin() + static_cast<std::ptrdiff_t>(n));
      any = true;
      break;
    }
    if (any) continue;
    a_.move(kScratch2, reg(entering_[0].to));
    const std::uint8_t stuck = entering_[0].to.number;
    for (Entering& e : entering_)
      if (e.from == stuck) e.from = kScratch2.number;
  }
}

void Emitter::end(const Block& b) {
  switch (b.end) {
    case BlockEnd::kJump: {
      std::vector<Move> moves;
      const Block& to = g_.blocks[b.to];
      for (std::size_t n = 0; n < b.args.size(); ++n)
        if (at(to.params[n]).kind != Kind::kNowhere) moves.push_back({at(to.params[n]), b.args[n]});
      move_all(std::move(moves));
      return go_to(b.to);
    }
    case BlockEnd::kBranch: return branch(b);
    case BlockEnd::kSwitch: return select(b);
    case BlockEnd::kExit: return a_.jump(exit_label(b.exit));
    case BlockEnd::kCall:
    case BlockEnd::kCallAt:
    case BlockEnd::kCallFun:
    case BlockEnd::kCallExport: return call(b);
    case BlockEnd::kReturn:
      move_to(Register{0}, b.args[0]);
      a_.load(kAddress, kStack, 0);
      a_.add(kStack, sizeof(Word));
      a_.test_bits(kProcess, kObserved, kStackDeep);
      a_.jump_if_outward(Comparison::kNotEqual, stubs.counted);
      return a_.jump_through(kAddress, -words(1));
    case BlockEnd::kNone: return;
  }
}

void Emitter::call(const Block& b) {
  std::vector<Move> moves;
  const bool is_fun = b.end == BlockEnd::kCallFun, is_export = b.end == BlockEnd::kCallExport;
  if (is_fun || is_export) moves.push_back({{Kind::kRegister, kScratch.number}, b.args.back()});
  for (std::size_t n = b.args.size() - (is_fun || is_export); n-- > 0;) {
    if (n < kRegisterArguments) moves.push_back({{Kind::kRegister, static_cast<std::uint8_t>(n)}, b.args[n]});
    else store(kXRegisters, x_at(n), b.args[n]);
  }
  move_all(std::move(moves));
  if (b.return_to) push(b.return_to);
  if (is_fun) {
    a_.load(kAddress, kScratch, kFunEntry);
    a_.load(kAddress, kAddress, kFunHot);
    a_.test_zero(kAddress);
    a_.jump_if_outward(Comparison::kEqual,
                       stubs.call_fun[b.imm < kRegisterArguments ? b.imm : kRegisterArguments]);
    return a_.jump_to(kAddress);
  }
  if (is_export) {
    a_.load(kAddress, kScratch, kExportAddress);
  } else if (b.end == BlockEnd::kCall) {
    a_.move(kAddress, reinterpret_cast<Word>(b.target));
  } else {
    a_.move(kAddress, b.imm);
    a_.load(kAddress, kAddress, 0);
  }
  a_.jump_through(kAddress, -words(1));
}

void Emitter::jump_on(Comparison yes, Comparison no, const Block& b) {
  if (destination(b.to) == next_) {
    a_.jump_if(no, label_of(b.otherwise));
  } else {
    a_.jump_if(yes, label_of(b.to));
    go_to(b.otherwise);
  }
}

void Emitter::branch(const Block& b) {
  for (const BlockId id : {b.otherwise, b.to}) {
    const Block& out = g_.blocks[destination(id)];
    if (is_bare_exit(out) && leaves_anyway(out.exit, b.at)) return a_.jump(exit_label(out.exit));
  }
  using C = Comparison;
  const auto equal = [&] { jump_on(C::kEqual, C::kNotEqual, b); };
  switch (b.condition) {
    case Condition::kIsList: return test_tag(b, 3, Term::kListTag);
    case Condition::kIsBoxed: return test_tag(b, 3, Term::kBoxedTag);
    case Condition::kIsImmediate: return test_tag(b, 3, Term::kImmedTag);
    case Condition::kIsSmall: return test_tag(b, 15, Term::kSmallTag);
    case Condition::kIsAtom: return test_tag(b, 0x3F, Term::kAtomTag);
    case Condition::kTagIs: return test_tag(b, static_cast<SWord>(b.imm >> 32), b.imm & 0xFFFFFFFF);
    case Condition::kBothSmall: {
      move_to(kScratch, b.args[0]);
      a_.and_(kScratch, in(b.args[1], kScratch2));
      a_.test_difference(kScratch, Term::kSmallTag, 15);
      return equal();
    }
    case Condition::kHeaderIs: {
      constexpr SWord kAt = -static_cast<SWord>(Term::kBoxedTag);
      const Register v = in(b.args[0], kScratch);
      if (b.imm <= 0x7FFFFFFF) {
        a_.compare_memory_64(v, kAt, static_cast<std::int32_t>(b.imm));
      } else {
        a_.load(kScratch, v, kAt);
        a_.compare(kScratch, b.imm);
      }
      return equal();
    }
    case Condition::kHeaderMasked: {
      a_.load(kScratch, in(b.args[0], kScratch), -static_cast<SWord>(Term::kBoxedTag));
      a_.and_(kScratch, static_cast<SWord>(b.imm >> 32));
      a_.compare(kScratch, b.imm & 0xFFFFFFFF);
      return equal();
    }
    case Condition::kSame: compare(b); return equal();
    case Condition::kDiffers: compare(b); return jump_on(C::kNotEqual, C::kEqual, b);
    case Condition::kLess: compare(b); return jump_on(C::kLess, C::kNotLess, b);
    case Condition::kHeaderAtLeast:
      a_.load(kScratch, in(b.args[0], kScratch), -static_cast<SWord>(Term::kBoxedTag));
      a_.compare(kScratch, b.imm);
      return jump_on(C::kNotBelow, C::kBelow, b);
    case Condition::kHeaderIn:
      a_.load(kScratch, in(b.args[0], kScratch), -static_cast<SWord>(Term::kBoxedTag));
      a_.shift_right(kScratch, 2);
      a_.and_(kScratch, 15);
      a_.move(kScratch2, b.imm);
      a_.test_bit(kScratch2, kScratch);
      return jump_on(C::kBelow, C::kNotBelow, b);
    case Condition::kIndexIn:
      // Both sixteen times what they say; an index of 0 or less becomes very large.
      a_.load(kScratch2, in(b.args[0], kScratch2), -static_cast<SWord>(Term::kBoxedTag));
      a_.shift_right(kScratch2, 2);
      a_.address(kScratch, in(b.args[1], kScratch), -static_cast<SWord>(Term::small(1).raw()));
      a_.compare(kScratch, kScratch2);
      return jump_on(C::kBelow, C::kNotBelow, b);
    case Condition::kFunParameters:
      a_.load(kScratch, in(b.args[0], kScratch), words(2) - static_cast<SWord>(Term::kBoxedTag));
      a_.and_(kScratch, 0xFF);
      a_.compare(kScratch, b.imm);
      return equal();
    case Condition::kFunArity:
      a_.load(kScratch, in(b.args[0], kScratch), words(2) - static_cast<SWord>(Term::kBoxedTag));
      a_.and_(kScratch, 0xFFFF);  // with is_external
      a_.compare(kScratch, b.imm);
      return equal();
    case Condition::kAtLeast: compare(b); return jump_on(C::kNotLess, C::kLess, b);
    case Condition::kBitsClear: a_.test_bits(in(b.args[0], kScratch2), b.imm); return equal();
    case Condition::kWordIs: {
      const Look look = Look::of(b.imm);
      a_.compare_memory_64(in(b.args[0], kScratch), look.displacement, look.with);
      return equal();
    }
    case Condition::kWordHas: {
      const Look look = Look::of(b.imm);
      a_.test_bits(in(b.args[0], kScratch), look.displacement, static_cast<std::uint32_t>(look.with));
      return jump_on(C::kNotEqual, C::kEqual, b);
    }
    case Condition::kIsBitString: {
      constexpr SWord kFirst = static_cast<SWord>(Term::Sub::kMatchContext) << 2,
                      kLast = static_cast<SWord>(Term::Sub::kSubBinary) << 2;
      a_.load(kScratch, in(b.args[0], kScratch), -static_cast<SWord>(Term::kBoxedTag));
      a_.and_(kScratch, 0x3F);
      a_.add(kScratch, -kFirst);
      a_.compare(kScratch, Word{kLast - kFirst});
      return jump_on(C::kNotAbove, C::kAbove, b);
    }
    case Condition::kBelow: compare(b); return jump_on(C::kBelow, C::kNotBelow, b);
    case Condition::kFits: return b.imm ? equal() : jump_on(C::kNotOverflow, C::kOverflow, b);
    case Condition::kFragments:
      a_.compare_memory_64(kProcess, kFragments, 0);
      return jump_on(C::kNotEqual, C::kEqual, b);
  }
}

void Emitter::compare(const Block& b) {
  const Register x = in(b.args[0], kScratch);
  if (b.args.size() == 1) a_.compare(x, b.imm);
  else if (g_.is_const(b.args[1])) a_.compare(x, g_.imms[b.args[1]]);
  else a_.compare(x, in(b.args[1], kScratch2));
}

void Emitter::test_tag(const Block& b, SWord mask, Word tag) {
  a_.test_difference(in(b.args[0], kScratch), tag, mask);
  jump_on(Comparison::kEqual, Comparison::kNotEqual, b);
}

void Emitter::select(const Block& b) {
  std::vector<Block::Case> cases = b.cases;
  if (cases.size() > kMostCasesInTurn) std::ranges::stable_sort(cases, {}, &Block::Case::value);
  select(in(b.args[0], kScratch), cases, b.otherwise);
}

void Emitter::select(Register v, std::span<const Block::Case> cases, BlockId otherwise) {
  if (cases.size() <= kMostCasesInTurn) {
    for (const Block::Case& c : cases) {
      a_.compare(v, c.value);
      a_.jump_if(Comparison::kEqual, label_of(c.to));
    }
    return go_to(otherwise);
  }
  const std::size_t half = cases.size() / 2;
  const Label above = a_.label();
  a_.compare(v, cases[half].value);
  a_.jump_if(Comparison::kNotBelow, above);
  // What comes next in the code is not behind this half.
  const BlockId next = std::exchange(next_, kNone);
  select(v, cases.first(half), otherwise);
  next_ = next;
  a_.bind(above);
  select(v, cases.subspan(half), otherwise);
}

void emit(const Graph& graph, const Allocation& places, HotFunction* out) {
  Emitter(graph, places, out).run();
}

}  // namespace vmrun::jit

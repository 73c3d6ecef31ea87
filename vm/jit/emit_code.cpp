// SPDX-License-Identifier: Apache-2.0
#include "vm/jit/emit_code.hpp"

#include <cstddef>
#include <cstring>
#include <unordered_map>

#include "vm/code/instructions.hpp"
#include "vm/code/patches.hpp"
#include "vm/jit/assembler.hpp"
#include "vm/jit/native_frame.hpp"
#include "vm/jit/process_offsets.hpp"
#include "vm/term/fun.hpp"
#include "vm/term/layout.hpp"

namespace vmrun::jit {
namespace {

using Kind = Location::Kind;

class Emitter {
 public:
  Emitter(const Graph& g, const Allocation& places, HotFunction* out) : g_(g), places_(places), out_(*out) {}

  void run() {
    labels_.resize(g_.blocks.size());
    for (const BlockId id : places_.layout) labels_[id] = a_.label();
    std::vector<BlockId> written;
    for (const BlockId id : places_.layout)
      if (!is_bare_exit(g_.blocks[id]) && !is_mere_jump(g_.blocks[id])) written.push_back(id);
    for (std::size_t n = 0; n < written.size(); ++n) {
      next_ = n + 1 < written.size() && !g_.blocks[written[n + 1]].entry ? written[n + 1] : kNone;
      block(written[n]);
    }
    for (const auto& [exit, label] : exits_) write_exit(g_.exits[exit], label);
    for (const Aside& s : asides_) {
      a_.bind(s.label);
      out_.places.push_back({s.at, a_.here()});
      a_.move(kAddress, reinterpret_cast<Word>(s.at));
      a_.jump_outward(s.stub);
    }
    a_.bind(used_up_);
    a_.move(kAddress, reinterpret_cast<Word>(g_.function));
    a_.jump_outward(stubs.yield);
    out_.code = a_.finish();
    std::memcpy(out_.code.data() + skip_.prefix + offsetof(CodePrefix, skip), &skip_.bytes, 2);
    for (const Assembler::Outward& o : a_.outward()) out_.fixups.push_back({o.at, o.at + 4, o.target});
  }

 private:
  // ---- Where values are -------------------------------------------------------------------------

  Location at(ValueId v) const { return places_.locations[v]; }
  static SWord slot(Location l) { return l.number * static_cast<SWord>(sizeof(Word)); }
  static SWord words(SWord n) { return n * static_cast<SWord>(sizeof(Word)); }
  Register reg(Location l) const { return {l.number}; }

  /// The value in a register: its own, or this one.
  Register in(ValueId v, Register otherwise) {
    if (g_.is_const(v)) {
      a_.move(otherwise, g_.imms[v]);
      return otherwise;
    }
    const Location l = at(v);
    if (l.kind == Kind::kRegister) return reg(l);
    a_.load(otherwise, kFrame, slot(l));
    return otherwise;
  }
  void move_to(Register to, ValueId v) { a_.move(to, in(v, to)); }
  /// The register for a result: its own, or this one, to be stored by `done`.
  Register out(ValueId v, Register otherwise) const {
    return at(v).kind == Kind::kRegister ? reg(at(v)) : otherwise;
  }
  void done(ValueId v, Register r) {
    if (at(v).kind == Kind::kSlot) a_.store(kFrame, slot(at(v)), r);
  }
  void store(Register base, SWord displacement, ValueId v) {
    if (g_.is_const(v)) a_.store(base, displacement, g_.imms[v]);
    else a_.store(base, displacement, in(v, kScratch));
  }
  FloatRegister float_in(ValueId v, FloatRegister otherwise) {
    const Location l = at(v);
    if (l.kind == Kind::kFloat) return {l.number};
    a_.load(otherwise, kFrame, slot(l));
    return otherwise;
  }
  FloatRegister float_out(ValueId v) const {
    return at(v).kind == Kind::kFloat ? FloatRegister{at(v).number} : kFloatScratch;
  }
  void done(ValueId v, FloatRegister r) {
    if (at(v).kind == Kind::kSlot) a_.store(kFrame, slot(at(v)), r);
  }

  // ---- Moves that happen at once ----------------------------------------------------------------

  struct Move {
    Location to;
    ValueId from;
  };
  /// Makes all moves, whose targets are different, as if at once.
  void move_all(std::vector<Move> moves) {
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
  static bool is_needed(Location to, const std::vector<Location>& from, const std::vector<bool>& made,
                        std::size_t except) {
    for (std::size_t k = 0; k < from.size(); ++k)
      if (!made[k] && k != except && from[k] == to) return true;
    return false;
  }
  void one(const Move& m, Location from) {
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

  // ---- Exits ------------------------------------------------------------------------------------

  static bool is_bare_exit(const Block& b) { return b.end == BlockEnd::kExit && b.code.empty() && !b.entry; }

  Label exit_label(ExitId exit) {
    const auto [it, is_new] = exits_.try_emplace(exit);
    if (is_new) it->second = a_.label();
    return it->second;
  }
  /// Whether a block does nothing but go to another one.
  bool is_mere_jump(const Block& b) const {
    if (b.end != BlockEnd::kJump || !b.code.empty() || b.entry) return false;
    const Block& to = g_.blocks[b.to];
    for (std::size_t n = 0; n < b.args.size(); ++n) {
      const Location place = at(to.params[n]);
      if (place.kind != Kind::kNowhere && (g_.is_const(b.args[n]) || !(at(b.args[n]) == place))) return false;
    }
    return true;
  }
  BlockId destination(BlockId id) const {
    while (is_mere_jump(g_.blocks[id])) id = g_.blocks[id].to;
    return id;
  }
  Label label_of(BlockId id) {
    id = destination(id);
    const Block& b = g_.blocks[id];
    return is_bare_exit(b) ? exit_label(b.exit) : labels_[id];
  }
  void write_exit(const Exit& e, Label label) {
    a_.bind(label);
    out_.places.push_back({e.at, a_.here()});
    for (const Exit::Register& r : e.registers) store(kXRegisters, words(r.x), r.value);
    if (!e.floats.empty()) a_.load(kScratch2, kFrame, words(kFloatsSlot));
    for (const Exit::Register& r : e.floats)
      a_.store(kScratch2, words(r.x), float_in(r.value, kFloatScratch));
    a_.move(kAddress, reinterpret_cast<Word>(e.at));
    a_.jump_outward(stubs.as_it_was);
  }

  // ---- Blocks -----------------------------------------------------------------------------------

  void note_place(const Word* of) {
    if (of == place_) return;
    place_ = of;
    out_.places.push_back({of, a_.here()});
  }

  void block(BlockId id) {
    const Block& b = g_.blocks[id];
    if (b.entry) entry(b);
    a_.bind(labels_[id]);
    for (const Inst& i : b.code) {
      note_place(i.at);
      instruction(i);
    }
    if (b.at) note_place(b.at);
    end(b);
  }

  void entry(const Block& b) {
    const bool is_function = b.entry == g_.function;
    CodePrefix prefix{};
    prefix.operation = operation_at(b.entry);
    a_.align_behind(sizeof prefix);
    const std::uint32_t prefix_at = a_.here();
    a_.data(&prefix, sizeof prefix);
    out_.entries.push_back({b.entry, a_.here()});
    place_ = nullptr;
    note_place(b.entry);
    if (is_function) {
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
  struct Entering {
    Location to;
    std::uint8_t from;
  };
  /// The parameters of an entry come in the registers of x registers.
  void enter_registers() {
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
  void go_to(BlockId to) {
    if (destination(to) != next_) a_.jump(label_of(to));
  }

  void end(const Block& b) {
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
      case BlockEnd::kCallFun: return call(b);
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

  void call(const Block& b) {
    std::vector<Move> moves;
    const bool is_fun = b.end == BlockEnd::kCallFun;
    if (is_fun) moves.push_back({{Kind::kRegister, kScratch.number}, b.args.back()});
    for (std::size_t n = b.args.size() - is_fun; n-- > 0;) {
      if (n < kRegisterArguments)
        moves.push_back({{Kind::kRegister, static_cast<std::uint8_t>(n)}, b.args[n]});
      else store(kXRegisters, words(static_cast<SWord>(n)), b.args[n]);
    }
    move_all(std::move(moves));
    if (b.return_to) {
      a_.move(kScratch2, reinterpret_cast<Word>(b.return_to));
      a_.store(kStack, -words(1), kScratch2);
      a_.add(kStack, -words(1));
    }
    if (is_fun)
      return a_.jump_outward(stubs.call_fun[b.imm < kRegisterArguments ? b.imm : kRegisterArguments]);
    if (b.end == BlockEnd::kCall) {
      a_.move(kAddress, reinterpret_cast<Word>(b.target));
    } else {
      a_.move(kAddress, b.imm);
      a_.load(kAddress, kAddress, 0);
    }
    a_.jump_through(kAddress, -words(1));
  }

  /// Jumps when the condition that has been compared holds, or does not.
  void jump_on(Comparison yes, Comparison no, const Block& b) {
    if (destination(b.to) == next_) {
      a_.jump_if(no, label_of(b.otherwise));
    } else {
      a_.jump_if(yes, label_of(b.to));
      go_to(b.otherwise);
    }
  }

  void branch(const Block& b) {
    using C = Comparison;
    const auto equal = [&] { jump_on(C::kEqual, C::kNotEqual, b); };
    switch (b.condition) {
      case Condition::kIsList: return test_tag(b, 3, Term::kListTag);
      case Condition::kIsBoxed: return test_tag(b, 3, Term::kBoxedTag);
      case Condition::kIsImmediate: return test_tag(b, 3, Term::kImmedTag);
      case Condition::kIsSmall: return test_tag(b, 15, Term::kSmallTag);
      case Condition::kIsAtom: return test_tag(b, 0x3F, Term::kAtomTag);
      case Condition::kBothSmall: {
        move_to(kScratch, b.args[0]);
        a_.and_(kScratch, in(b.args[1], kScratch2));
        a_.test_difference(kScratch, Term::kSmallTag, 15);
        return equal();
      }
      case Condition::kHeaderIs: {
        a_.load(kScratch, in(b.args[0], kScratch), -static_cast<SWord>(Term::kBoxedTag));
        a_.compare(kScratch, b.imm);
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
      case Condition::kFunArity:
        a_.load(kScratch, in(b.args[0], kScratch), words(2) - static_cast<SWord>(Term::kBoxedTag));
        a_.and_(kScratch, 0xFFFF);  // with is_external
        a_.compare(kScratch, b.imm);
        return equal();
      case Condition::kTermsEqual: call_with(b.args, stubs.equal); return jump_on(C::kNotEqual, C::kEqual, b);
      case Condition::kTermsLess: call_with(b.args, stubs.compare); return jump_on(C::kLess, C::kNotLess, b);
    }
  }
  /// Calls a function of two terms. Its result is in kScratch, and has been compared with zero.
  void call_with(std::span<const ValueId> two, const void* stub) {
    move_to(kScratch, two[0]);
    move_to(kScratch2, two[1]);
    a_.call_outward(stub);
  }
  void compare(const Block& b) {
    const Register x = in(b.args[0], kScratch);
    if (b.args.size() == 1) a_.compare(x, b.imm);
    else if (g_.is_const(b.args[1])) a_.compare(x, g_.imms[b.args[1]]);
    else a_.compare(x, in(b.args[1], kScratch2));
  }
  void test_tag(const Block& b, SWord mask, Word tag) {
    a_.test_difference(in(b.args[0], kScratch), tag, mask);
    jump_on(Comparison::kEqual, Comparison::kNotEqual, b);
  }

  void select(const Block& b) {
    const Register v = in(b.args[0], kScratch);
    for (const Block::Case& c : b.cases) {
      a_.compare(v, c.value);
      a_.jump_if(Comparison::kEqual, label_of(c.to));
    }
    go_to(b.otherwise);
  }

  // ---- Instructions -----------------------------------------------------------------------------

  void instruction(const Inst& i);
  void arithmetic(const Inst& i);
  void float_operation(const Inst& i, Assembler::FloatOperation op);
  void put_fun(const Inst& i);
  void call_bif(const Inst& i);
  void build(Word header, std::span<const ValueId> elements, ValueId dst);

  const Graph& g_;
  const Allocation& places_;
  HotFunction& out_;
  Assembler a_;
  std::vector<Label> labels_;
  std::unordered_map<ExitId, Label> exits_;
  BlockId next_ = kNone;  // the block that is written next
  const Word* place_ = nullptr;
  std::vector<Entering> entering_;
  /// Code that goes back to the interpreter with an address.
  struct Aside {
    Label label;
    const Word* at;
    const void* stub;
  };
  std::vector<Aside> asides_;
  Label used_up_{};
  struct {
    std::uint32_t prefix;
    std::uint16_t bytes;  // that count the call
  } skip_{};
};

/// A term at the top of the heap: a header, and what follows it.
void Emitter::build(Word header, std::span<const ValueId> elements, ValueId dst) {
  a_.store(kHeap, 0, header);
  for (std::size_t n = 0; n < elements.size(); ++n)
    store(kHeap, words(static_cast<SWord>(n) + 1), elements[n]);
  const Register r = out(dst, kScratch);
  a_.address(r, kHeap, Term::kBoxedTag);
  a_.add(kHeap, words(static_cast<SWord>(elements.size()) + 1));
  done(dst, r);
}

void Emitter::put_fun(const Inst& i) {
  const auto values = g_.args_of(i);
  const auto* const entry = reinterpret_cast<const FunEntry*>(i.imm);
  FunObject object{};
  object.arity = entry->arity;
  object.free_count = static_cast<std::uint32_t>(values.size());
  Word arities;
  std::memcpy(&arities, &object.arity, sizeof arities);
  constexpr SWord kHeaderWords = sizeof(FunObject) / sizeof(Word);
  a_.store(kHeap, 0, Term::header(Term::Sub::kFun, kHeaderWords - 1 + values.size()).raw());
  a_.store(kHeap, words(1), i.imm);
  a_.store(kHeap, words(2), arities);
  a_.load(kScratch, kProcess, kSelfId);
  a_.store(kHeap, words(3), kScratch);
  a_.store(kHeap, words(4), Word{0});
  static_assert(kHeaderWords == 5);
  for (std::size_t n = 0; n < values.size(); ++n)
    store(kHeap, words(kHeaderWords + static_cast<SWord>(n)), values[n]);
  const Register r = out(i.dst, kScratch);
  a_.address(r, kHeap, Term::kBoxedTag);
  a_.add(kHeap, words(kHeaderWords + static_cast<SWord>(values.size())));
  done(i.dst, r);
}

/// As the interpreter's call_bif. If the slice is used up, it does the instruction.
void Emitter::call_bif(const Inst& i) {
  const auto args = g_.args_of(i);
  a_.compare_memory_32(kProcess, kReductions, 1);
  a_.jump_if(Comparison::kNotGreater, exit_label(i.exit));
  a_.count_down(kProcess, kReductions);
  for (std::size_t n = 0; n < args.size(); ++n) store(kXRegisters, words(static_cast<SWord>(n)), args[n]);
  a_.move(kScratch, reinterpret_cast<Word>(i.at));
  a_.store(kProcess, kInstruction, kScratch);
  a_.move(kAddress, i.imm);
  a_.call_outward(stubs.call_bif);
  const Label failed = a_.label(), collect = a_.label();
  a_.jump_if(Comparison::kEqual, failed);
  asides_.push_back({failed, i.at, stubs.failed});
  a_.compare_memory_64(kProcess, kFragments, 0);
  a_.jump_if(Comparison::kNotEqual, collect);
  asides_.push_back({collect, i.next, stubs.collect});
  if (at(i.dst).kind == Kind::kRegister) a_.move(reg(at(i.dst)), Register{0});
  done(i.dst, Register{0});
}

void Emitter::float_operation(const Inst& i, Assembler::FloatOperation op) {
  const auto args = g_.args_of(i);
  const FloatRegister x = float_in(args[0], FloatRegister{15}), y = float_in(args[1], kFloatScratch);
  const FloatRegister to =
      at(i.dst).kind == Kind::kFloat ? FloatRegister{at(i.dst).number} : FloatRegister{15};
  a_.operate(op, to, x, y);
  if (i.exit != kNone) a_.jump_if_not_finite(to, exit_label(i.exit));
  done(i.dst, to);
}

/// Small integers are v << 4 | 15. The result is computed in a scratch register if the exit, or the
/// other operand, needs what its own register has.
void Emitter::arithmetic(const Inst& i) {
  const ValueId x = g_.args_of(i)[0], y = g_.args_of(i)[1];
  const bool checked = i.exit != kNone;
  const bool y_const = g_.is_const(y);
  const SWord y_value = y_const ? static_cast<SWord>(g_.imms[y]) >> 4 : 0;
  const auto small_constant = [](SWord v) { return v == static_cast<std::int32_t>(v); };
  Register r = out(i.dst, kScratch);
  if (!y_const && at(y).kind == Kind::kRegister && reg(at(y)) == r && !(at(x) == at(y))) r = kScratch;
  const auto finish = [&] {
    if (checked) a_.jump_if(Comparison::kOverflow, exit_label(i.exit));
  };
  switch (i.op) {
    case Op::kAdd:
    case Op::kSubtract: {
      const bool minus = i.op == Op::kSubtract;
      if (y_const && small_constant(y_value * 16)) {
        const SWord by = minus ? -y_value * 16 : y_value * 16;
        if (!checked) {
          a_.address(r, in(x, r), by);
          break;
        }
        move_to(r, x);
        a_.add(r, by);
        finish();
        break;
      }
      move_to(r, x);
      if (minus) {
        // (x | 15) - (y | 15) has no tag: it cannot overflow what the untagged does not.
        a_.subtract(r, in(y, kScratch2));
        finish();
        a_.or_(r, 15);
      } else {
        a_.and_(r, ~SWord{15});
        a_.add(r, in(y, kScratch2));
        finish();
      }
      break;
    }
    case Op::kMultiply:
      r = kScratch;  // what is multiplied is needed after an overflow
      move_to(r, x);
      a_.shift_right(r, 4);
      move_to(kScratch2, y);
      a_.and_(kScratch2, ~SWord{15});
      a_.multiply(r, kScratch2);
      finish();
      a_.or_(r, 15);
      break;
    case Op::kAnd:
      move_to(r, x);
      if (y_const && small_constant(static_cast<SWord>(g_.imms[y])))
        a_.and_(r, static_cast<SWord>(g_.imms[y]));
      else a_.and_(r, in(y, kScratch2));
      break;
    case Op::kOr:
      move_to(r, x);
      a_.or_(r, in(y, kScratch2));
      break;
    case Op::kXor:
      move_to(r, x);
      a_.xor_(r, in(y, kScratch2));
      a_.or_(r, 15);
      break;
    case Op::kShiftRight:
      move_to(r, x);
      a_.shift_right(r, static_cast<unsigned>(y_value > 63 ? 63 : y_value));
      a_.or_(r, 15);
      break;
    case Op::kDivide:
    case Op::kRemainder: {
      const bool known = y_const && y_value > 0;
      if (!known) {
        // Zero and -1 are the interpreter's.
        const Register by = in(y, kScratch);
        a_.compare(by, Term::small(0).raw());
        a_.jump_if(Comparison::kEqual, exit_label(i.exit));
        a_.compare(by, Term::small(-1).raw());
        a_.jump_if(Comparison::kEqual, exit_label(i.exit));
      }
      move_to(kScratch, y);
      a_.shift_right(kScratch, 4);
      move_to(kScratch2, x);
      a_.shift_right(kScratch2, 4);
      a_.divide(kScratch2, kScratch);
      r = out(i.dst, kScratch);
      a_.move(r, Register{i.op == Op::kDivide ? std::uint8_t{0} : std::uint8_t{6}});
      a_.shift_left(r, 4);
      a_.or_(r, 15);
      break;
    }
    default: a_.jump(exit_label(i.exit)); break;
  }
  if (at(i.dst).kind == Kind::kRegister) a_.move(reg(at(i.dst)), r);
  done(i.dst, r);
}

void Emitter::instruction(const Inst& i) {
  const auto args = g_.args_of(i);
  if (i.dst != kNone && at(i.dst).kind == Kind::kNowhere && i.exit == kNone &&
      (i.op == Op::kLoad || i.op == Op::kLoadY || i.op == Op::kUnbox || i.op == Op::kToFloat ||
       i.op == Op::kFloatConst))
    return;  // nobody uses it
  switch (i.op) {
    case Op::kConst:
    case Op::kParam:
    case Op::kFloatParam: return;
    case Op::kLoadX:
    case Op::kLoadY: {
      const Register r = out(i.dst, kScratch);
      a_.load(r, i.op == Op::kLoadX ? kXRegisters : kStack, words(static_cast<SWord>(i.imm)));
      return done(i.dst, r);
    }
    case Op::kStoreY: return store(kStack, words(static_cast<SWord>(i.imm)), args[0]);
    case Op::kLoad: {
      const Register r = out(i.dst, kScratch);
      a_.load(r, in(args[0], kScratch), static_cast<SWord>(i.imm));
      return done(i.dst, r);
    }
    case Op::kPutList: {
      store(kHeap, 0, args[0]);
      store(kHeap, words(1), args[1]);
      const Register r = out(i.dst, kScratch);
      a_.address(r, kHeap, Term::kListTag);
      a_.add(kHeap, words(2));
      return done(i.dst, r);
    }
    case Op::kPutTuple: return build(i.imm, args, i.dst);
    case Op::kPutFun: return put_fun(i);
    case Op::kMapGet: {
      call_with(args, stubs.map_get);
      const Register r = out(i.dst, kScratch);
      a_.move(r, kScratch);
      return done(i.dst, r);
    }
    case Op::kCallBif: return call_bif(i);
    case Op::kMoveStack: return a_.add(kStack, words(static_cast<SWord>(i.imm)));
    case Op::kNeed:
      a_.address(kScratch, kHeap, words(static_cast<SWord>(i.imm)));
      a_.compare(kScratch, kStack);
      return a_.jump_if(Comparison::kAbove, exit_label(i.exit));
    case Op::kAdd:
    case Op::kSubtract:
    case Op::kMultiply:
    case Op::kDivide:
    case Op::kRemainder:
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor:
    case Op::kShiftRight: return arithmetic(i);
    case Op::kAbsolute: {
      const Register r = kScratch;
      move_to(r, args[0]);
      const Label positive = a_.label();
      a_.test_zero(r);
      a_.jump_if(Comparison::kNotLess, positive);
      a_.move(kScratch2, Word{2 * Term::kSmallTag});
      a_.subtract(kScratch2, r);
      a_.jump_if(Comparison::kOverflow, exit_label(i.exit));
      a_.move(r, kScratch2);
      a_.bind(positive);
      const Register to = out(i.dst, kScratch);
      a_.move(to, r);
      return done(i.dst, to);
    }
    case Op::kTupleSize: {
      // The header is the arity shifted by six bits, and four of them are a small integer's.
      const Register r = out(i.dst, kScratch);
      a_.load(r, in(args[0], kScratch), -static_cast<SWord>(Term::kBoxedTag));
      a_.shift_right(r, 2);
      a_.or_(r, Term::kSmallTag);
      return done(i.dst, r);
    }
    case Op::kUnbox: {
      const FloatRegister f = float_out(i.dst);
      a_.load(f, in(args[0], kScratch), words(1) - static_cast<SWord>(Term::kBoxedTag));
      return done(i.dst, f);
    }
    case Op::kToFloat: {
      move_to(kScratch, args[0]);
      a_.shift_right(kScratch, 4);
      const FloatRegister f = float_out(i.dst);
      a_.to_float(f, kScratch);
      return done(i.dst, f);
    }
    case Op::kFloatConst: {
      const FloatRegister f = float_out(i.dst);
      a_.constant(f, i.imm);
      return done(i.dst, f);
    }
    case Op::kFloatAdd: return float_operation(i, Assembler::FloatOperation::kAdd);
    case Op::kFloatSubtract: return float_operation(i, Assembler::FloatOperation::kSubtract);
    case Op::kFloatMultiply: return float_operation(i, Assembler::FloatOperation::kMultiply);
    case Op::kFloatDivide: return float_operation(i, Assembler::FloatOperation::kDivide);
    case Op::kBox: {
      a_.store(kHeap, 0, Term::header(Term::Sub::kFloat, 1).raw());
      a_.store(kHeap, words(1), float_in(args[0], kFloatScratch));
      const Register r = out(i.dst, kScratch);
      a_.address(r, kHeap, Term::kBoxedTag);
      a_.add(kHeap, words(2));
      return done(i.dst, r);
    }
    case Op::kSelf: {
      const Register r = out(i.dst, kScratch);
      a_.load(r, kProcess, kSelfId);
      return done(i.dst, r);
    }
  }
}

}  // namespace

void emit(const Graph& graph, const Allocation& places, HotFunction* out) {
  Emitter(graph, places, out).run();
}

}  // namespace vmrun::jit

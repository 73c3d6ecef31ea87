// SPDX-License-Identifier: Apache-2.0
// Cleans up after lowering: jumps to jumps, merge points whose outcome is known, straight lines cut
// in pieces, unused values, tests that one instruction can do together. All passes are linear in
// the size of the function.

#include <algorithm>

#include "vm/ir/bif_info.hpp"

#include "vm/ir/passes.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/compare.hpp"

namespace vmrun::ir {

bool is_pure(const Instr& i) {
  switch (i.op) {
    case Op::kMove:
    case Op::kGetHd:
    case Op::kGetTl:
    case Op::kGetElement:
    case Op::kPutList:
    case Op::kPutTuple:
    case Op::kMakeFun:
    case Op::kFloatBox:
    case Op::kBsGetPosition:
    case Op::kBsGetTail: return true;
    case Op::kBif: return i.bif->safe;
    default: return false;
  }
}

namespace {

class Optimiser {
 public:
  Optimiser(Program& program, Function& fn) : program_(program), fn_(fn) {}

  void run() {
    find_preds();
    for (int round = 0; round < 4; ++round) {
      changed_ = false;
      substitute();
      thread_jumps();
      find_preds();
      merge();
      substitute();
      find_preds();
      tagged_tuples();
      drop_unused();
      if (!changed_) break;
    }
    find_preds();
    join_map_fetches();
    find_preds();
  }

 private:
  template <class F>
  static void for_args(Block& b, F&& f) {
    for (Instr& i : b.code)
      for (Arg& a : i.args) f(a);
    f(b.subject);
    for (Arg& a : b.jump_args) f(a);
  }
  template <class F>
  static void for_targets(Block& b, F&& f) {
    if (b.succ != kNone) f(b.succ);
    for (SwitchCase& c : b.cases) f(c.to);
    if (b.fail != kNone) f(b.fail);
  }

  /// Marks reachable blocks and lists predecessors (for a handler only the try itself).
  void find_preds() {
    for (Block& b : fn_.blocks) {
      b.preds.clear();
      b.dead = true;
    }
    std::vector<BlockId> work{fn_.entry};
    fn_.blocks[fn_.entry].dead = false;
    while (!work.empty()) {
      const BlockId id = work.back();
      work.pop_back();
      for_targets(fn_.blocks[id], [&](BlockId t) {
        Block& to = fn_.blocks[t];
        to.preds.push_back(id);
        if (!to.dead) return;
        to.dead = false;
        work.push_back(t);
      });
    }
  }

  Arg resolve(Arg a) const {
    while (a.is_value() && a.value < alias_.size() && aliased_[a.value]) a = alias_[a.value];
    return a;
  }
  void make_alias(ValueId v, Arg a) {
    if (alias_.size() < fn_.value_count) alias_.resize(fn_.value_count), aliased_.resize(fn_.value_count);
    alias_[v] = a;
    aliased_[v] = true;
    pending_ = true;
  }

  void substitute() {
    while (pending_) {
      pending_ = false;
      for (Block& b : fn_.blocks) {
        if (b.dead) continue;
        for_args(b, [&](Arg& a) { a = resolve(a); });
        for (const Instr& i : b.code) take_apart(i);
      }
    }
  }

  /// A part of a literal is a literal too. There is no instruction that takes a literal apart.
  void take_apart(const Instr& i) {
    if (i.args.empty() || !i.args[0].is_literal()) return;
    const Term whole = i.args[0].literal;
    Term part = kNonValue;
    if (i.op == Op::kGetHd && whole.is_list()) part = whole.head();
    else if (i.op == Op::kGetTl && whole.is_list()) part = whole.tail();
    else if (i.op == Op::kGetElement && whole.is_tuple() && i.imm < whole.tuple_arity())
      part = whole.element(i.imm);
    const ValueId v = i.dst();
    if (part.is_value() && !(v < aliased_.size() && aliased_[v])) make_alias(v, Arg::lit(part));
  }

  void count_uses() {
    uses_.assign(fn_.value_count + 1, 0);
    for (Block& b : fn_.blocks) {
      if (!b.dead) {
        for_args(b, [&](Arg& a) {
          if (a.is_value()) uses_[a.value]++;
        });
      }
    }
  }

  /// Returns where a jump to `j` with these arguments really ends; kNone if it ends in `j`.
  BlockId outcome(const Block& j, const std::vector<Arg>& args) const {
    if (j.params.size() != 1 || args.size() != 1 || !args[0].is_literal() || uses_[j.params[0]] != 1)
      return kNone;
    const Term v = args[0].literal;
    const Arg p = Arg::of(j.params[0]);
    if (j.end == BlockEnd::kSwitchValue && j.code.empty() && j.subject == p) {
      for (const SwitchCase& c : j.cases)
        if (c.value == v) return c.to;
      return v.is_immed() ? j.fail : kNone;
    }
    if (j.end == BlockEnd::kFallible && j.code.size() == 1 && j.code[0].op == Op::kTest &&
        j.code[0].test == Test::kEqExact && j.code[0].args[0] == p && j.code[0].args[1].is_literal() &&
        v.is_immed() && j.code[0].args[1].literal.is_immed()) {
      return v == j.code[0].args[1].literal ? j.succ : j.fail;
    }
    return kNone;
  }

  void thread_jumps() {
    count_uses();
    for (Block& b : fn_.blocks) {
      if (b.dead) continue;
      for_targets(b, [&](BlockId& t) {
        for (int hops = 0; hops < 64; ++hops) {
          const Block& to = fn_.blocks[t];
          if (!to.code.empty() || to.end != BlockEnd::kJump || !to.params.empty() || !to.jump_args.empty() ||
              to.is_handler || to.is_loop_head || to.succ == t)
            break;
          if (!fn_.blocks[to.succ].params.empty()) break;
          if (b.end == BlockEnd::kTry || b.end == BlockEnd::kCatch) break;
          t = to.succ;
          changed_ = true;
        }
      });
      for (int hops = 0; hops < 8 && b.end == BlockEnd::kJump; ++hops) {
        const Block& to = fn_.blocks[b.succ];
        if (to.is_handler || to.is_loop_head) break;
        if (BlockId known = outcome(to, b.jump_args); known != kNone && fn_.blocks[known].params.empty()) {
          b.succ = known;
          b.jump_args.clear();
          changed_ = true;
          continue;
        }
        if (to.code.empty() && to.end == BlockEnd::kJump && to.handler == b.handler &&
            to.params.size() <= 4 && &to != &b) {
          // A merge point that only jumps on.
          bool only_here = true;
          for (ValueId p : to.params) {
            std::uint32_t inside = 0;
            for (Arg a : to.jump_args) inside += a == Arg::of(p);
            only_here &= uses_[p] == inside;
          }
          if (!only_here || to.preds.size() < 2) break;
          b.jump_args = pass_on(to, b.jump_args, to.jump_args);
          b.succ = to.succ;
          changed_ = true;
          continue;
        }
        if (to.code.empty() && to.end == BlockEnd::kReturn && to.params.size() <= 1 &&
            (to.params.empty() || uses_[to.params[0]] == (to.subject == Arg::of(to.params[0]) ? 1u : 0u))) {
          b.subject = pass_on(to, b.jump_args, {to.subject})[0];
          b.end = BlockEnd::kReturn;
          b.succ = kNone;
          b.jump_args.clear();
          changed_ = true;
        }
        break;
      }
    }
  }

  static std::vector<Arg> pass_on(const Block& join, const std::vector<Arg>& given, std::vector<Arg> args) {
    for (Arg& a : args) {
      for (std::size_t i = 0; i < join.params.size(); ++i) {
        if (a == Arg::of(join.params[i])) {
          a = given[i];
          break;
        }
      }
    }
    return args;
  }

  /// Merges a block that is entered by only one jump into the block that jumps.
  void merge() {
    for (BlockId id = 0; id < fn_.blocks.size(); ++id) {
      Block& b = fn_.blocks[id];
      if (b.dead) continue;
      while (b.end == BlockEnd::kJump) {
        const BlockId next = b.succ;
        Block& to = fn_.blocks[next];
        if (to.preds.size() != 1 || next == id || next == fn_.entry || to.is_handler || to.is_loop_head ||
            to.handler != b.handler)
          break;
        for (std::size_t i = 0; i < to.params.size(); ++i) make_alias(to.params[i], b.jump_args[i]);
        std::move(to.code.begin(), to.code.end(), std::back_inserter(b.code));
        b.end = to.end;
        b.error = to.error;
        b.succ = to.succ;
        b.fail = to.fail;
        b.tag = to.tag;
        b.subject = to.subject;
        b.loc = to.loc;
        b.jump_args = std::move(to.jump_args);
        b.cases = std::move(to.cases);
        to = Block{};
        to.dead = true;
        changed_ = true;
        for_targets(b, [&](BlockId t) {
          for (BlockId& p : fn_.blocks[t].preds)
            if (p == next) p = id;
        });
      }
    }
  }

  static bool is_test(const Instr& i, Test t) { return i.op == Op::kTest && i.test == t; }

  /// Merges the tests is_tuple, arity and first element into one instruction, if all fail in the
  /// same way.
  void tagged_tuples() {
    for (Block& a : fn_.blocks) {
      if (a.dead || a.end != BlockEnd::kFallible || !is_test(a.code.back(), Test::kTuple)) continue;
      Block& b = fn_.blocks[a.succ];
      if (b.preds.size() != 1 || b.end != BlockEnd::kFallible || b.fail != a.fail || b.code.size() != 1 ||
          !is_test(b.code[0], Test::kArity) || !(b.code[0].args[0] == a.code.back().args[0]))
        continue;
      Block& c = fn_.blocks[b.succ];
      if (c.preds.size() != 1 || c.end != BlockEnd::kFallible || c.fail != a.fail || c.code.size() != 2)
        continue;
      const Instr &get = c.code[0], &eq = c.code[1];
      if (get.op != Op::kGetElement || get.imm != 0 || !(get.args[0] == a.code.back().args[0]) ||
          !is_test(eq, Test::kEqExact) || !(eq.args[0] == Arg::of(get.dst())) || !eq.args[1].is_literal() ||
          !eq.args[1].literal.is_atom())
        continue;
      Instr& test = a.code.back();
      std::vector<Arg> args{test.args[0], eq.args[1]};
      test.test = Test::kTagged;
      test.args = program_.arena.copy(args);
      test.imm = b.code[0].imm;
      a.succ = b.succ;
      c.code.pop_back();
      c.end = BlockEnd::kJump;
      c.fail = kNone;
      b = Block{};
      b.dead = true;
      c.preds[0] = static_cast<BlockId>(&a - fn_.blocks.data());
      changed_ = true;
    }
  }

  void drop_unused() {
    count_uses();
    std::vector<ValueId> work;
    std::vector<Instr*> def(fn_.value_count, nullptr);
    for (Block& b : fn_.blocks) {
      if (b.dead) continue;
      for (Instr& i : b.code)
        if (is_pure(i) && i.dst() != kNone) def[i.dst()] = &i;
    }
    std::vector<bool> gone(fn_.value_count);
    for (ValueId v = 0; v < fn_.value_count; ++v)
      if (def[v] && uses_[v] == 0) work.push_back(v);
    if (work.empty()) return;
    changed_ = true;
    while (!work.empty()) {
      const ValueId v = work.back();
      work.pop_back();
      gone[v] = true;
      for (Arg a : def[v]->args) {
        if (a.is_value() && --uses_[a.value] == 0 && def[a.value] != nullptr && !gone[a.value])
          work.push_back(a.value);
      }
    }
    for (Block& b : fn_.blocks) {
      if (b.dead) continue;
      std::erase_if(b.code, [&](const Instr& i) { return is_pure(i) && i.dst() != kNone && gone[i.dst()]; });
    }
  }

  /// Merges fetches of several keys of one map, or fields of one record, that fail in the same way
  /// into one instruction.
  void join_map_fetches() {
    for (Block& a : fn_.blocks) {
      if (a.dead) continue;
      for (;;) {
        if (a.end != BlockEnd::kFallible) break;
        const Op op = a.code.back().op;
        if ((op != Op::kGetMap && op != Op::kGetRecord) || !a.code.back().args[1].is_literal()) break;
        const BlockId next = a.succ;
        Block& b = fn_.blocks[next];
        if (b.preds.size() != 1 || b.end != BlockEnd::kFallible || b.fail != a.fail || b.code.size() != 1 ||
            b.code[0].op != op || b.handler != a.handler || !b.code[0].args[1].is_literal() ||
            !(b.code[0].args[0] == a.code.back().args[0]))
          break;
        Instr& first = a.code.back();
        bool twice = false;
        for (std::size_t k = 1; k < first.args.size(); ++k)
          twice |= equal_exact(first.args[k].literal, b.code[0].args[1].literal);
        if (twice) break;
        std::vector<Arg> args(first.args.begin(), first.args.end());
        std::vector<ValueId> dsts(first.dsts.begin(), first.dsts.end());
        args.push_back(b.code[0].args[1]);
        dsts.push_back(b.code[0].dst());
        first.args = program_.arena.copy(args);
        first.dsts = program_.arena.copy(dsts);
        a.succ = b.succ;
        b = Block{};
        b.dead = true;
        for (BlockId& p : fn_.blocks[a.succ].preds)
          if (p == next) p = static_cast<BlockId>(&a - fn_.blocks.data());
      }
    }
  }

  Program& program_;
  Function& fn_;
  bool changed_ = false;
  bool pending_ = false;
  std::vector<Arg> alias_;
  std::vector<bool> aliased_;
  std::vector<std::uint32_t> uses_;
};

}  // namespace

void optimise(Program& program, Function& fn) { Optimiser(program, fn).run(); }

}  // namespace vmrun::ir

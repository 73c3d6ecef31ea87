// SPDX-License-Identifier: Apache-2.0
// Match contexts that are passed on. In
//
//     sum(<<C, T/binary>>, Acc) -> sum(T, Acc + C);
//
// a sub-binary T that is only matched again would cost an object per byte. Instead the context
// itself is passed: starting a match on a context continues at its position. That is correct if the
// receiving parameter is used only for matching. Where it is needed as a term after all, in the
// arguments of a function_clause error, the binary is made from the context again. Functions that a
// library may replace get terms only: those that -nifs declares, or all functions of a module that
// declares none and calls load_nif.

#include <algorithm>
#include <map>
#include <utility>

#include "vm/ir/liveness.hpp"
#include "vm/ir/passes.hpp"
#include "vm/term/atom.hpp"

namespace vmrun::ir {

namespace {

/// What is known about a parameter that may arrive as a context, at some point of its function.
struct State {
  enum Kind : std::uint8_t { kNowhere, kUnstarted, kNoBinary, kStarted, kMixed } kind = kNowhere;
  std::uint32_t start = 0;  // kStarted: which start
  bool advanced = false;    // … and something has been read since
  void join(State o) {
    if (o.kind == kNowhere) return;
    if (kind == kNowhere) *this = o;
    else if (kind != o.kind || start != o.start) kind = kMixed;
    else advanced |= o.advanced;
  }
};

bool raises_function_clause(const Block& b) {
  return b.end == BlockEnd::kError && b.error == Fail::kFunctionClause;
}

class Parameter {
 public:
  Parameter(Program& program, Function& fn, std::uint32_t index)
      : program_(program), fn_(fn), index_(index), param_(Arg::of(fn.params[index])) {}

  /// Whether the parameter is used only in ways that a context allows.
  bool accepts(const std::vector<BlockId>& order) {
    in_.assign(fn_.blocks.size(), {});
    in_[fn_.entry].kind = State::kUnstarted;
    for (BlockId id : order) {
      const Block& b = fn_.blocks[id];
      if (b.is_loop_head) return false;
      if (!uses_fit(id)) return false;
      for_successors(b, [&](BlockId t) { in_[t].join(exit(id, t)); });
    }
    if (starts_.empty()) return false;
    for (BlockId id : order) {
      if (!raises_function_clause(fn_.blocks[id])) continue;
      for (BlockId p : fn_.blocks[id].preds)
        if (exit(p, id).kind == State::kMixed) return false;
      if (fn_.blocks[id].preds.empty()) return false;
    }
    return true;
  }

  /// Corrects the errors for arguments that were contexts.
  void rewrite(const std::vector<BlockId>& order) {
    for (BlockId id : order) {
      if (!raises_function_clause(fn_.blocks[id])) continue;
      std::map<std::pair<std::uint32_t, bool>, BlockId> made;
      const auto preds = fn_.blocks[id].preds;
      for (BlockId p : preds) {
        auto redirect = [&](BlockId& t) {
          if (t != id) return;
          const State s = exit_of(p, t, &t == &fn_.blocks[p].succ);
          if (s.kind == State::kNoBinary || s.kind == State::kNowhere) return;
          const auto key = std::make_pair(s.kind == State::kStarted ? s.start + 1 : 0, s.advanced);
          auto it = made.find(key);
          if (it == made.end())
            it = made.emplace(key, s.kind == State::kStarted ? restored(id, s) : converted(id)).first;
          targets_.push_back({p, &t == &fn_.blocks[p].succ ? 0u : 1u, it->second});
        };
        Block& b = fn_.blocks[p];
        redirect(b.succ);
        redirect(fn_.blocks[p].fail);
        for (std::size_t k = 0; k < fn_.blocks[p].cases.size(); ++k) {
          if (fn_.blocks[p].cases[k].to != id) continue;
          const State s = in_after(p);
          if (s.kind == State::kNoBinary) continue;
          const auto key = std::make_pair(s.kind == State::kStarted ? s.start + 1 : 0, s.advanced);
          auto it = made.find(key);
          if (it == made.end())
            it = made.emplace(key, s.kind == State::kStarted ? restored(id, s) : converted(id)).first;
          fn_.blocks[p].cases[k].to = it->second;
        }
      }
    }
    for (auto& [block, which, to] : targets_)
      (which == 0 ? fn_.blocks[block].succ : fn_.blocks[block].fail) = to;
    for (std::size_t k = 0; k < starts_.size(); ++k) {
      auto& code = fn_.blocks[fn_.blocks[starts_[k]].succ].code;
      if (position_[k] == kNone || has_position(code, k)) continue;
      Instr i{.op = Op::kBsGetPosition};
      set(i, position_[k], {Arg::of(context_[k])});
      code.insert(code.begin(), i);
    }
    fn_.accepts_context |= std::uint64_t{1} << index_;
  }

 private:
  struct Target {
    BlockId block;
    std::uint32_t which;
    BlockId to;
  };

  bool is_start(const Block& b) const {
    return b.end == BlockEnd::kFallible && b.code.back().op == Op::kBsStart &&
           b.code.back().args[0] == param_;
  }
  std::uint32_t start_of(BlockId id) const {
    for (std::uint32_t k = 0; k < starts_.size(); ++k)
      if (starts_[k] == id) return k;
    return 0;
  }

  bool uses_fit(BlockId id) {
    const Block& b = fn_.blocks[id];
    const State s = in_[id];
    bool used = b.subject == param_, starts = false;
    for (Arg a : b.jump_args) used |= a == param_ && !raises_function_clause(b);
    for (std::size_t k = 0; k < b.code.size(); ++k) {
      for (Arg a : b.code[k].args) {
        if (!(a == param_)) continue;
        if (k + 1 == b.code.size() && is_start(b)) starts = true;
        else used = true;
      }
    }
    if (used && s.kind != State::kNoBinary) return false;
    if (!starts) return true;
    if (s.kind != State::kUnstarted || b.succ == b.fail || fn_.blocks[b.succ].preds.size() != 1) return false;
    starts_.push_back(id);
    context_.push_back(b.code.back().dst());
    position_.push_back(kNone);
    return true;
  }

  State in_after(BlockId from) const { return in_[from]; }

  State exit_of(BlockId from, BlockId, bool success) const {
    const Block& b = fn_.blocks[from];
    State s = in_[from];
    if (is_start(b)) {
      s.kind = success ? State::kStarted : State::kNoBinary;
      s.start = start_of(from);
      s.advanced = false;
    } else if (s.kind == State::kStarted) {
      const std::size_t n = b.code.size();
      for (std::size_t k = 0; k < n; ++k) {
        const Instr& i = b.code[k];
        const bool last = b.end == BlockEnd::kFallible && k + 1 == n;
        const bool moves = i.op == Op::kBsSetPosition || i.op == Op::kBsGet || i.op == Op::kBsSkip ||
                           i.op == Op::kBsMatchString;
        if (moves && i.args[0] == Arg::of(context_[s.start]) && (success || !last)) s.advanced = true;
      }
    }
    return s;
  }
  State exit(BlockId from, BlockId to) const {
    const Block& b = fn_.blocks[from];
    State s;
    if (b.succ == to) s.join(exit_of(from, to, true));
    if (b.fail == to) s.join(exit_of(from, to, false));
    for (const SwitchCase& c : b.cases)
      if (c.to == to) s.join(exit_of(from, to, true));
    return s;
  }

  void set(Instr& i, ValueId dst, const std::vector<Arg>& args) {
    i.args = program_.arena.copy(args);
    if (dst != kNone) i.dsts = program_.arena.copy(&dst, 1);
  }

  /// Whether start k is followed at once by saving the position.
  bool has_position(const std::vector<Instr>& code, std::size_t k) const {
    return !code.empty() && code[0].op == Op::kBsGetPosition && code[0].args[0] == Arg::of(context_[k]);
  }

  /// Returns a copy of the error block `id` in which the parameter is a term made from `context`.
  BlockId error_with(BlockId id, Arg context, std::vector<Instr> before) {
    BlockId b = fn_.new_block(fn_.blocks[id].handler);
    Block& to = fn_.blocks[b];
    const Block& like = fn_.blocks[id];
    to.code = std::move(before);
    const ValueId term = fn_.new_value();
    Instr tail{.op = Op::kBsGetTail};
    set(tail, term, {context});
    to.code.push_back(tail);
    to.end = BlockEnd::kError;
    to.error = like.error;
    to.loc = like.loc;
    to.jump_args = like.jump_args;
    if (to.jump_args.empty())
      for (ValueId p : fn_.params) to.jump_args.push_back(Arg::of(p));
    to.jump_args[index_] = Arg::of(term);
    return b;
  }

  /// Returns an error block for the time after a start. It moves the context back to the position
  /// at which the function was entered.
  BlockId restored(BlockId id, State s) {
    std::vector<Instr> before;
    if (s.advanced) {
      if (position_[s.start] == kNone) {
        const auto& code = fn_.blocks[fn_.blocks[starts_[s.start]].succ].code;
        position_[s.start] = has_position(code, s.start) ? code[0].dst() : fn_.new_value();
      }
      Instr back{.op = Op::kBsSetPosition};
      set(back, kNone, {Arg::of(context_[s.start]), Arg::of(position_[s.start])});
      before.push_back(back);
    }
    return error_with(id, Arg::of(context_[s.start]), std::move(before));
  }

  /// Returns an error block for the time before any start, when the value may be a context or any
  /// term.
  BlockId converted(BlockId id) {
    const ValueId context = fn_.new_value();
    const BlockId good = error_with(id, Arg::of(context), {});
    BlockId b = fn_.new_block(fn_.blocks[id].handler);
    Instr start{.op = Op::kBsStart};
    set(start, context, {param_});
    Block& to = fn_.blocks[b];
    to.code.push_back(start);
    to.end = BlockEnd::kFallible;
    to.succ = good;
    to.fail = id;
    return b;
  }

  Program& program_;
  Function& fn_;
  const std::uint32_t index_;
  const Arg param_;
  std::vector<State> in_;
  std::vector<BlockId> starts_;  // blocks that end with a start on the parameter
  std::vector<ValueId> context_, position_;
  std::vector<Target> targets_;
};

/// A sub-binary that is made only to be passed to a function.
struct Handover {
  std::uint32_t caller;
  BlockId made_in;
  ValueId tail, context;
  std::uint32_t callee, argument;
};

void find_handovers(Program& p, std::uint32_t f, std::vector<Handover>& out) {
  Function& fn = p.functions[f];
  struct TailExtraction {
    BlockId block;
    ValueId context;
    std::uint32_t uses, callee, argument;
    bool last;
  };
  std::map<ValueId, TailExtraction> made;
  for (BlockId id = 0; id < fn.blocks.size(); ++id) {
    Block& b = fn.blocks[id];
    if (b.dead) continue;
    for (std::size_t k = 0; k < b.code.size(); ++k) {
      const Instr& i = b.code[k];
      if (i.op != Op::kBsGetTail) continue;
      // The context must not be used afterwards, because its position has moved.
      bool last = true;
      for (std::size_t n = k + 1; n < b.code.size(); ++n)
        for (Arg a : b.code[n].args) last &= !(a == i.args[0]);
      for (Arg a : b.jump_args) last &= !(a == i.args[0]);
      for_successors(b, [&](BlockId t) {
        for (ValueId v : fn.blocks[t].live_in) last &= v != i.args[0].value;
      });
      made[i.dst()] = {id, i.args[0].value, 0, kNone, 0, last};
    }
  }
  if (made.empty()) return;
  for (Block& b : fn.blocks) {
    if (b.dead) continue;
    auto other_use = [&](Arg a) {
      if (!a.is_value()) return;
      if (auto it = made.find(a.value); it != made.end()) it->second.uses += 2;
    };
    for (const Instr& i : b.code) {
      for (std::uint32_t a = 0; a < i.args.size(); ++a) {
        if (i.op != Op::kCall) {
          other_use(i.args[a]);
          continue;
        }
        if (!i.args[a].is_value()) continue;
        if (auto it = made.find(i.args[a].value); it != made.end()) {
          ++it->second.uses;
          it->second.callee = static_cast<std::uint32_t>(i.imm);
          it->second.argument = a;
        }
      }
    }
    other_use(b.subject);
    for (Arg a : b.jump_args) other_use(a);
  }
  for (auto& [tail, m] : made) {
    if (m.uses == 1 && m.last && m.argument < 64)
      out.push_back({f, m.block, tail, m.context, m.callee, m.argument});
  }
}

bool declares_nifs(const Program& p) {
  return std::any_of(p.functions.begin(), p.functions.end(), [](const Function& f) { return f.is_native; });
}

bool calls_load_nif(const Program& p) {
  const Term load_nif = intern_atom("load_nif");
  for (const Function& f : p.functions)
    for (const Block& b : f.blocks)
      for (const Instr& i : b.code)
        if (i.op == Op::kCallExt && i.args[0] == Arg::lit(atoms::erlang) && i.args[1] == Arg::lit(load_nif))
          return true;
  return false;
}

}  // namespace

void reuse_contexts(Program& p) {
  if (!declares_nifs(p) && calls_load_nif(p)) return;
  std::vector<Handover> handovers;
  std::vector<std::vector<BlockId>> order(p.functions.size());
  for (std::uint32_t f = 0; f < p.functions.size(); ++f) {
    bool matches = false;
    for (const Block& b : p.functions[f].blocks) {
      if (b.dead) continue;
      for (const Instr& i : b.code) matches |= i.op == Op::kBsStart;
    }
    if (!matches) continue;
    order[f] = analyse(p.functions[f]).order;
    find_handovers(p, f, handovers);
  }
  std::map<std::pair<std::uint32_t, std::uint32_t>, bool> accepted;
  for (const Handover& h : handovers) {
    auto [it, fresh] = accepted.try_emplace({h.callee, h.argument}, false);
    if (!fresh || order[h.callee].empty() || p.functions[h.callee].is_native) continue;
    Parameter parameter(p, p.functions[h.callee], h.argument);
    if (!parameter.accepts(order[h.callee])) continue;
    parameter.rewrite(order[h.callee]);
    it->second = true;
    // The graph has changed.
    optimise(p, p.functions[h.callee]);
    order[h.callee] = analyse(p.functions[h.callee]).order;
  }
  for (const Handover& h : handovers) {
    if (!accepted[{h.callee, h.argument}]) continue;
    Function& fn = p.functions[h.caller];
    for (Block& b : fn.blocks) {
      for (Instr& i : b.code) {
        for (Arg& a : i.args)
          if (a == Arg::of(h.tail)) a = Arg::of(h.context);
      }
      std::erase_if(b.code, [&](const Instr& i) { return i.op == Op::kBsGetTail && i.dst() == h.tail; });
    }
  }
}

}  // namespace vmrun::ir

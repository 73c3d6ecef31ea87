// SPDX-License-Identifier: Apache-2.0
#include "vm/ir/liveness.hpp"

namespace vmrun::ir {

std::size_t first_register_arg(const Instr& i) {
  switch (i.op) {
    case Op::kCallExt: return 2;
    case Op::kCatchEnd: return 1;
    case Op::kTryCase: return 1;
    default: return 0;
  }
}

namespace {

class Analysis {
 public:
  explicit Analysis(Function& fn) : fn_(fn) {}

  Liveness run() {
    make_order();
    find_definitions();
    find_live();
    find_hints();
    return std::move(out_);
  }

 private:
  /// Reverse postorder, without recursion.
  void make_order() {
    struct Visit {
      BlockId block;
      std::vector<BlockId> next;  // taken from the back
    };
    std::vector<bool> seen(fn_.blocks.size());
    std::vector<Visit> stack;
    auto enter = [&](BlockId id) {
      if (seen[id]) return;
      seen[id] = true;
      const Block& b = fn_.blocks[id];
      std::vector<BlockId> next;
      if (b.succ != kNone) next.push_back(b.succ);
      for (const SwitchCase& c : b.cases) next.push_back(c.to);
      if (b.fail != kNone) next.push_back(b.fail);
      if (b.handler != kNone) next.push_back(b.handler);
      stack.push_back({id, std::move(next)});
    };
    std::vector<BlockId> post;
    enter(fn_.entry);
    while (!stack.empty()) {
      if (stack.back().next.empty()) {
        post.push_back(stack.back().block);
        stack.pop_back();
        continue;
      }
      BlockId id = stack.back().next.back();
      stack.back().next.pop_back();
      enter(id);
    }
    out_.order.assign(post.rbegin(), post.rend());
    guarded_.resize(fn_.blocks.size());
    for (BlockId id : out_.order)
      if (fn_.blocks[id].handler != kNone) guarded_[fn_.blocks[id].handler].push_back(id);
  }

  void find_definitions() {
    def_.assign(fn_.value_count, kNone);
    for (ValueId v : fn_.params) def_[v] = fn_.entry;
    for (BlockId id : out_.order) {
      Block& b = fn_.blocks[id];
      for (ValueId v : b.params) def_[v] = id;
      for (const Instr& i : b.code)
        for (ValueId v : i.dsts) def_[v] = id;
      if (b.tag != kNone) def_[b.tag] = id;
      b.live_in.clear();
    }
  }

  /// v is used in `block`: it is alive at the start of every block on the paths from its
  /// definition.
  void use(ValueId v, BlockId block) {
    work_.push_back(block);
    while (!work_.empty()) {
      BlockId id = work_.back();
      work_.pop_back();
      Block& b = fn_.blocks[id];
      if (def_[v] == id) continue;
      if (!b.live_in.empty() && b.live_in.back() == v) continue;
      b.live_in.push_back(v);
      for (BlockId p : b.preds) work_.push_back(p);
      if (b.is_handler)
        for (BlockId p : guarded_[id]) work_.push_back(p);
    }
  }

  void find_live() {
    std::vector<std::vector<BlockId>> uses(fn_.value_count);
    auto note = [&](Arg a, BlockId id) {
      if (a.is_value() && (uses[a.value].empty() || uses[a.value].back() != id)) uses[a.value].push_back(id);
    };
    for (BlockId id : out_.order) {
      const Block& b = fn_.blocks[id];
      for (const Instr& i : b.code)
        for (Arg a : i.args) note(a, id);
      note(b.subject, id);
      for (Arg a : b.jump_args) note(a, id);
      if (b.end == BlockEnd::kError && b.error == Fail::kFunctionClause && b.jump_args.empty())
        for (ValueId p : fn_.params) note(Arg::of(p), id);
    }
    // One value after the other, so that "already marked" is a check of a list's last element.
    for (ValueId v = 0; v < fn_.value_count; ++v)
      for (BlockId id : uses[v]) use(v, id);
  }

  struct Preference {
    Hint hint;
    std::uint32_t block = kNone;  // stamp: the block of the backward walk that wrote it
    std::uint32_t clobbers = 0;   // calls seen in that walk when the preference was recorded
  };

  void find_hints() {
    out_.hints.assign(fn_.value_count, {});
    preference_.assign(fn_.value_count, {});
    std::vector<std::vector<Hint>> at_start(fn_.blocks.size());  // parallel to live_in
    for (std::size_t n = out_.order.size(); n-- > 0;) {
      const BlockId id = out_.order[n];
      Block& b = fn_.blocks[id];
      std::uint32_t clobbers = 0;
      auto set = [&](Arg a, Hint h) {
        if (!a.is_value()) return;
        Preference& w = preference_[a.value];
        if (w.block == id) {
          h.outlasts_call |= w.hint.outlasts_call || w.clobbers < clobbers;
          if (h.x < 0 && w.clobbers == clobbers) h.x = w.hint.x;
        }
        w = {h, id, clobbers};
      };
      auto get = [&](ValueId v) {
        const Preference& w = preference_[v];
        if (w.block != id) return Hint{};
        if (w.clobbers < clobbers) return Hint{-1, true};
        return w.hint;
      };
      auto inherit = [&](BlockId s) {
        const Block& to = fn_.blocks[s];
        if (at_start[s].size() != to.live_in.size()) {
          // A loop head on the way: all values that are alive there are in y registers.
          for (ValueId v : to.live_in) set(Arg::of(v), {-1, true});
          return;
        }
        for (std::size_t k = 0; k < to.live_in.size(); ++k) {
          const ValueId v = to.live_in[k];
          if (preference_[v].block != id || preference_[v].hint.x < 0) set(Arg::of(v), at_start[s][k]);
          else if (at_start[s][k].outlasts_call) preference_[v].hint.outlasts_call |= s == b.succ;
        }
      };
      for_successors(b, inherit);
      if (b.handler != kNone)
        for (ValueId v : fn_.blocks[b.handler].live_in) set(Arg::of(v), {-1, true});
      if (b.end == BlockEnd::kReturn) set(b.subject, {0, false});
      if (b.end == BlockEnd::kJump) {
        const Block& to = fn_.blocks[b.succ];
        for (std::size_t k = 0; k < to.params.size(); ++k) set(b.jump_args[k], out_.hints[to.params[k]]);
        if (to.is_handler && !b.jump_args.empty()) set(b.jump_args[0], {0, false});
      }
      if (b.end == BlockEnd::kLoopRec || b.end == BlockEnd::kWaitTimeout || b.is_loop_head) {
        ++clobbers;
        set(b.subject, {-1, true});
      }
      for (std::size_t k = b.code.size(); k-- > 0;) {
        const Instr& i = b.code[k];
        for (ValueId v : i.dsts) out_.hints[v] = get(v);
        if (clobbers_x(i.op)) {
          ++clobbers;
          const std::size_t from = first_register_arg(i);
          for (std::size_t a = from; a < i.args.size(); ++a) {
            if (!i.args[a].is_value()) continue;
            Hint h{static_cast<std::int16_t>(a - from), get(i.args[a].value).outlasts_call};
            set(i.args[a], h);
          }
        } else {
          for (Arg a : i.args) set(a, {});
        }
      }
      for (ValueId p : b.params) out_.hints[p] = get(p);
      at_start[id].reserve(b.live_in.size());
      for (ValueId v : b.live_in) {
        Hint h = get(v);
        if (b.is_loop_head || b.is_handler) h = {-1, true};
        at_start[id].push_back(h);
      }
    }
  }

  Function& fn_;
  Liveness out_;
  std::vector<BlockId> def_;
  std::vector<BlockId> work_;
  std::vector<std::vector<BlockId>> guarded_;
  std::vector<Preference> preference_;
};

}  // namespace

Liveness analyse(Function& fn) { return Analysis(fn).run(); }

}  // namespace vmrun::ir

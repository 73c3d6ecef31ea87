// SPDX-License-Identifier: Apache-2.0
#include "vm/jit/unboxing.hpp"

#include <algorithm>

#include "vm/code/instructions.hpp"
#include "vm/jit/allocation.hpp"
#include "vm/jit/callees.hpp"

namespace vmrun::jit {
namespace {

class Unboxing {
 public:
  explicit Unboxing(Graph* g) : g_(*g) {}

  void run() {
    if (g_.unboxed.empty()) return;
    look();
    std::vector<bool> removed(g_.ops.size());
    for (const auto& [v, number] : g_.unboxed)
      if (defined_[v] != kNone && !is_term_[v] && !heap_is_used_between(defined_[v], left_[v]))
        removed[v] = true;
    Word most = 0;
    for (Exit& e : g_.exits) {
      Word boxes = 0;
      for (Exit::Register& r : e.registers) {
        if (removed[r.value]) r.value = g_.unboxed.at(r.value);
        boxes += g_.is_float(r.value);
      }
      most = std::max(most, boxes);
    }
    for (Block& b : g_.blocks) {
      for (Inst& i : b.code) {
        if (i.op == Op::kNeed) i.imm += 2 * most;
        if (i.dst != kNone && removed[i.dst]) i = Inst{.op = Op::kConst};
      }
      leave_out_needs(b);
    }
  }

 private:
  void look() {
    defined_.assign(g_.ops.size(), kNone);
    left_.assign(g_.ops.size(), 0);
    is_term_.assign(g_.ops.size(), false);
    std::uint32_t at = 0;
    const auto use = [&](ValueId v) {
      if (v != kNone) is_term_[v] = true;
    };
    const auto leave = [&](ExitId e) {
      if (e == kNone) return;
      for (const Exit::Register& r : g_.exits[e].registers) left_[r.value] = at;
    };
    for (const BlockId id : block_order(g_)) {
      const Block& b = g_.blocks[id];
      for (const Inst& i : b.code) {
        ++at;
        std::ranges::for_each(g_.args_of(i), use);
        leave(i.exit);
        if (i.dst != kNone) defined_[i.dst] = at;
        if (uses_heap_elsewhere(i)) heap_uses_.push_back(at);
      }
      ++at;
      std::ranges::for_each(b.args, use);
      leave(b.exit);
    }
  }
  bool heap_is_used_between(std::uint32_t from, std::uint32_t to) const {
    const auto it = std::ranges::lower_bound(heap_uses_, from);
    return it != heap_uses_.end() && *it <= to;
  }

  /// Leaves out tests for room that the one before them has made in the same block.
  static void leave_out_needs(Block& b) {
    SWord room = 0;
    for (Inst& i : b.code) {
      if (i.op == Op::kNeed && !(i.imm & kNeedAlways)) {
        if (static_cast<SWord>(i.imm) <= room) i = Inst{.op = Op::kConst};
        else room = static_cast<SWord>(i.imm);
      } else if (i.op == Op::kBox || i.op == Op::kPutList) {
        room -= 2;
      } else if (!leaves_heap_alone(i.op)) {
        room = 0;
      }
    }
  }
  static bool leaves_heap_alone(Op op) {
    switch (op) {
      case Op::kConst:
      case Op::kLoadX:
      case Op::kLoadY:
      case Op::kStoreY:
      case Op::kLoad:
      case Op::kTupleSize:
      case Op::kTag:
      case Op::kTupleElement: return true;
      default: return op >= Op::kAdd && op <= Op::kFloatDivide;
    }
  }

  Graph& g_;
  // Positions, by value: where it is made, and where an exit needs it last.
  std::vector<std::uint32_t> defined_, left_;
  std::vector<bool> is_term_;  // by value: something but an exit needs it
  std::vector<std::uint32_t> heap_uses_;
};

}  // namespace

bool uses_heap_elsewhere(const Inst& i) {
  if (i.op == Op::kCallBif) return true;
  return (i.op == Op::kCall || i.op == Op::kMapGet) && reinterpret_cast<const Callee*>(i.imm)->takes_process;
}

void keep_unboxed(Graph* graph) { Unboxing(graph).run(); }

}  // namespace vmrun::jit

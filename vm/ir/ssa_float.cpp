// SPDX-License-Identifier: Apache-2.0
// Floating point without boxes: in a chain of additions, subtractions, multiplications and
// divisions whose operands are known to be floats, the intermediate numbers stay in float
// registers. Only results with another use are made into terms. Chains do not extend across calls
// or blocks.

#include <string_view>
#include <unordered_map>

#include "vm/ir/bif_info.hpp"
#include "vm/ir/passes.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/layout.hpp"

namespace vmrun::ir {

namespace {

/// Returns 0…3 for + - * /, else -1.
int float_operation(const Instr& i) {
  if (i.op != Op::kBif || i.bif->arity != 2) return -1;
  constexpr std::string_view kOps = "+-*/";
  const std::string_view name = i.bif->name;
  const auto at = name.size() == 1 ? kOps.find(name[0]) : std::string_view::npos;
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

class Floats {
 public:
  Floats(Program& program, Function& fn, const std::vector<BlockId>& order)
      : program_(program), fn_(fn), order_(order) {}

  void run() {
    if (!find_floats()) return;
    for (BlockId id : order_) chains(fn_.blocks[id]);
  }

 private:
  bool is_float(const Instr& i, std::size_t k) const {
    const Arg a = i.args[k];
    if (k < i.types.size() && i.types[k].kinds == kind::kFloat) return true;
    return a.is_value() ? known_[a.value] : a.literal.is_float();
  }
  bool is_operand(Arg a) const { return a.is_value() || a.literal.is_float() || a.literal.is_small(); }
  bool candidate(const Instr& i) const {
    const int op = float_operation(i);
    return op >= 0 && (op == 3 || is_float(i, 0) || is_float(i, 1)) && is_operand(i.args[0]) &&
           is_operand(i.args[1]);
  }

  /// Marks values that are floats if they have a value at all.
  bool find_floats() {
    known_.assign(fn_.value_count, false);
    std::size_t operations = 0;
    for (BlockId id : order_) {
      for (const Instr& i : fn_.blocks[id].code) {
        bool result = false;
        if (candidate(i)) {
          result = true;
          ++operations;
        } else if (i.op == Op::kBif) {
          result = std::string_view(i.bif->name) == "float";
        } else if (i.op == Op::kCallExt) {
          result = i.args[0].literal == math_;
        } else if (i.op == Op::kBsGet) {
          result = i.spec.type == SegType::kFloat;
        }
        if (result && i.dst() != kNone) known_[i.dst()] = true;
      }
    }
    return operations > 1;
  }

  void chains(Block& b) {
    const std::size_t n = b.code.size() - (b.end == BlockEnd::kFallible ? 1 : 0);
    // Finds the stretch between calls in which each operation is, and which operations feed each
    // other.
    std::vector<std::uint32_t> stretch(n);
    std::unordered_map<ValueId, std::size_t> made_by;
    std::vector<bool> linked(n);
    std::uint32_t calls = 0;
    bool any = false;
    for (std::size_t k = 0; k < n; ++k) {
      const Instr& i = b.code[k];
      stretch[k] = calls;
      calls += clobbers_x(i.op);
      if (!candidate(i)) continue;
      for (Arg a : i.args) {
        if (!a.is_value()) continue;
        const auto it = made_by.find(a.value);
        if (it == made_by.end() || stretch[it->second] != stretch[k]) continue;
        linked[it->second] = linked[k] = any = true;
      }
      made_by[i.dst()] = k;
    }
    if (!any) return;
    rewrite(b, linked);
  }

  void rewrite(Block& b, const std::vector<bool>& linked) {
    std::vector<Instr> code;
    std::unordered_map<ValueId, ValueId> raw;  // value → the same unboxed
    auto in_float = [&](const Instr& of, std::size_t k) {
      Arg a = of.args[k];
      if (a.is_value()) {
        if (auto it = raw.find(a.value); it != raw.end()) return Arg::of(it->second);
      }
      Instr i{.op = Op::kFloatLoad};
      i.loc = of.loc;
      i.imm = is_float(of, k);
      if (a.is_literal() && a.literal.is_small()) {
        auto* words = static_cast<Term*>(program_.arena.alloc(2 * sizeof(Term), alignof(Term)));
        a = Arg::lit(make_float(words, static_cast<double>(a.literal.small_value())));
        i.imm = 1;
      }
      const ValueId v = set(i, {a});
      code.push_back(i);
      if (a.is_value()) raw[a.value] = v;
      return Arg::of(v);
    };
    for (std::size_t k = 0; k < b.code.size(); ++k) {
      const Instr& i = b.code[k];
      if (clobbers_x(i.op)) raw.clear();
      if (k >= linked.size() || !linked[k]) {
        code.push_back(i);
        continue;
      }
      const Arg x = in_float(i, 0), y = in_float(i, 1);
      Instr op{.op = Op::kFloatOp};
      op.imm = static_cast<std::uint64_t>(float_operation(i));
      op.loc = i.loc;
      const ValueId v = set(op, {x, y});
      code.push_back(op);
      raw[i.dst()] = v;
      Instr box{.op = Op::kFloatBox};  // removed later if it is not used
      std::vector<Arg> args{Arg::of(v)};
      box.args = program_.arena.copy(args);
      box.dsts = i.dsts;
      code.push_back(box);
    }
    b.code = std::move(code);
  }

  ValueId set(Instr& i, const std::vector<Arg>& args) {
    i.args = program_.arena.copy(args);
    ValueId v = fn_.new_value();
    known_.push_back(false);
    i.dsts = program_.arena.copy(&v, 1);
    return v;
  }

  Program& program_;
  Function& fn_;
  const std::vector<BlockId>& order_;
  const Term math_ = intern_atom("math");
  std::vector<bool> known_;
};

}  // namespace

void unbox_floats(Program& program, Function& fn, const std::vector<BlockId>& order) {
  Floats(program, fn, order).run();
}

}  // namespace vmrun::ir

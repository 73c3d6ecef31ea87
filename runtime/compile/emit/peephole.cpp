// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/emit/peephole.hpp"

#include <unordered_map>
#include <unordered_set>

namespace vmrun::compile {

namespace {

bool ends_flow(Bop op) {
  switch (op) {
    case Bop::kJump:
    case Bop::kReturn:
    case Bop::kCallOnly:
    case Bop::kCallLast:
    case Bop::kCallExtOnly:
    case Bop::kCallExtLast:
    case Bop::kApplyLast:
    case Bop::kBadmatch:
    case Bop::kIfEnd:
    case Bop::kCaseEnd:
    case Bop::kTryCaseEnd:
    case Bop::kBadrecord:
    case Bop::kSelectVal:
    case Bop::kSelectTupleArity:
    case Bop::kLoopRecEnd:
    case Bop::kWait:
    case Bop::kFuncInfo: return true;
    default: return false;
  }
}

}  // namespace

void peephole(std::vector<AsmInstr>& code, std::size_t first, std::uint32_t info, std::uint32_t entry) {
  // The final target of each label.
  std::unordered_map<std::uint32_t, std::uint32_t> same;
  std::unordered_map<std::uint32_t, std::size_t> at;
  for (std::size_t i = first; i < code.size(); ++i)
    if (code[i].op == Bop::kLabel) at[code[i].args[0].n] = i;
  auto target = [&](std::uint32_t label) {
    for (int hops = 0; hops < 100; ++hops) {
      const auto it = at.find(label);
      if (it == at.end()) return label;
      std::size_t i = it->second + 1;
      while (i < code.size() && code[i].op == Bop::kLabel && code[i].args[0].n != entry) ++i;
      if (i >= code.size() || code[i].op != Bop::kJump || code[i].args[0].n == label) {
        // Adjacent labels are one.
        return i > it->second + 1 && code[i - 1].op == Bop::kLabel && label != info && label != entry
                   ? code[i - 1].args[0].n
                   : label;
      }
      label = code[i].args[0].n;
    }
    return label;
  };
  std::unordered_set<std::uint32_t> used{info, entry};
  std::vector<AsmInstr> out;
  out.reserve(code.size() - first);
  bool reachable = true;
  for (std::size_t i = first; i < code.size(); ++i) {
    if (code[i].op == Bop::kLabel) continue;
    for (Operand& o : code[i].args)
      if (o.kind == Operand::kLabel && o.n != 0 && at.contains(o.n)) o.n = target(o.n);
  }
  // First finds used labels, then reachable code; twice, because dropping code may make labels
  // unused.
  for (int round = 0; round < 2; ++round) {
    used = {info, entry};
    reachable = true;
    for (std::size_t i = first; i < code.size(); ++i) {
      for (const Operand& o : code[i].args)
        if (o.kind == Operand::kLabel) used.insert(o.n);
    }
    out.clear();
    for (std::size_t i = first; i < code.size(); ++i) {
      AsmInstr& c = code[i];
      if (c.op == Bop::kLabel) {
        if (!used.contains(c.args[0].n)) continue;
        // A jump to the next instruction.
        if (!out.empty() && out.back().op == Bop::kJump && out.back().args[0].n == c.args[0].n)
          out.pop_back();
        reachable = true;
      }
      if (!reachable) continue;
      if (ends_flow(c.op)) reachable = false;
      out.push_back(std::move(c));
    }
    code.resize(first);
    std::move(out.begin(), out.end(), std::back_inserter(code));
    out.clear();
  }
}

}  // namespace vmrun::compile

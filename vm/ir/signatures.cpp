// SPDX-License-Identifier: Apache-2.0
// What is known about functions' arguments and results. A function that cannot be called from
// outside of the module takes what its callers in the module pass, and its result goes back to
// them. Both are found by visiting the functions until nothing changes: at first nothing is passed
// or returned, and each round only adds to that (the analysis of Kildall, "A Unified Approach to
// Global Program Optimization", 1973, over calls).

#include <algorithm>
#include <deque>
#include <set>

#include "vm/ir/liveness.hpp"
#include "vm/ir/passes.hpp"
#include "vm/term/atom.hpp"

namespace vmrun::ir {

namespace {

constexpr unsigned kMostRounds = 20;  // visits of one function; after them nothing is assumed about its
                                      // parameters

class Signatures {
 public:
  explicit Signatures(Program& program) : program_(program), states_(program.functions.size()) {}

  void run() {
    program_.signatures.clear();
    for (std::size_t f = 0; f < states_.size(); ++f) {
      const Function& fn = program_.functions[f];
      program_.signatures.push_back(
          {std::vector<Type>(fn.params.size(), Type::of_kinds(0)), Type::of_kinds(0)});
      states_[f].order = analyse(program_.functions[f]).order;
      note_callers(static_cast<std::uint32_t>(f));
    }
    for (std::uint32_t f = 0; f < states_.size(); ++f)
      if (program_.functions[f].is_exported) give_up_params(f);
    while (!pending_.empty()) {
      const std::uint32_t f = pending_.front();
      pending_.pop_front();
      states_[f].pending = false;
      visit(f);
    }
    // Types of functions that are never called, or never return.
    for (Signature& s : program_.signatures) {
      for (Type& t : s.params)
        if (t.kinds == 0) t = {};
      if (s.result.kinds == 0) s.result = {};
    }
  }

 private:
  struct State {
    std::vector<BlockId> order;
    std::set<std::uint32_t> callers;
    unsigned rounds = 0;
    bool pending = false;
  };

  void note_callers(std::uint32_t f) {
    for (BlockId id : states_[f].order)
      for (const Instr& i : program_.functions[f].blocks[id].code)
        if (i.op == Op::kCall) states_[i.imm].callers.insert(f);
  }

  void pend(std::uint32_t f) {
    if (states_[f].pending) return;
    states_[f].pending = true;
    pending_.push_back(f);
  }

  void give_up_params(std::uint32_t f) {
    for (Type& t : program_.signatures[f].params) t = {};
    pend(f);
  }

  void visit(std::uint32_t f) {
    if (++states_[f].rounds == kMostRounds) give_up_params(f);
    const Observed seen = observe_types(program_, program_.functions[f], states_[f].order);
    for (const Observed::Call& call : seen.calls) hand_over(call.callee, call.args, 0);
    for (const Observed::Call& fun : seen.funs) {
      // The fun may be called with any arguments; its free variables come last.
      const std::uint32_t callee = program_.lambdas[fun.callee].function;
      const std::size_t free = fun.args.size(), given = program_.functions[callee].params.size() - free;
      hand_over(callee, std::vector<Type>(given), 0);
      hand_over(callee, fun.args, given);
    }
    Type& result = program_.signatures[f].result;
    const Type now =
        states_[f].rounds < kMostRounds ? result.join(seen.result.general(), program_.types) : Type{};
    if (now == result) return;
    result = now;
    for (std::uint32_t caller : states_[f].callers) pend(caller);
  }

  void hand_over(std::uint32_t to, const std::vector<Type>& args, std::size_t first) {
    std::vector<Type>& params = program_.signatures[to].params;
    bool changed = states_[to].rounds == 0;
    for (std::size_t k = 0; k < args.size() && first + k < params.size(); ++k) {
      const Type now = params[first + k].join(args[k], program_.types);
      changed |= now != params[first + k];
      params[first + k] = now;
    }
    if (changed) pend(to);
  }

  Program& program_;
  std::vector<State> states_;
  std::deque<std::uint32_t> pending_;
};

/// Functions of a native library replace those written here, and may return anything.
bool may_get_native_functions(const Program& program) {
  const Term load_nif = intern_atom("load_nif");
  for (const Function& f : program.functions) {
    if (f.is_native) return true;
    for (const Block& b : f.blocks)
      for (const Instr& i : b.code)
        if (i.op == Op::kCallExt && i.args.size() > 1 && i.args[1].literal == load_nif) return true;
  }
  return false;
}

}  // namespace

void infer_signatures(Program& program) {
  if (!may_get_native_functions(program)) Signatures(program).run();
}

}  // namespace vmrun::ir

// SPDX-License-Identifier: Apache-2.0
// Receives that wait for a reference skip the messages that arrived before it was made.
//
// Lowering puts kMarkerUse in front of a receive for every value that all its clauses compare with.
// This pass finds out which of these values may be a reference made in this module: made in the
// same function, or passed as an argument by calls of local functions. Where such a reference is
// made, a marker is reserved before and bound after; all other uses are removed. A use is safe
// whatever the value turns out to be: without a marker the receive starts at the first message.
// OTP's beam_ssa_recv does the same, and also follows results of functions.

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include "vm/ir/bif_info.hpp"
#include "vm/ir/passes.hpp"
#include "vm/term/atom.hpp"

namespace vmrun::ir {

namespace {

/// A value of a function, with the function's index.
using Place = std::uint64_t;

Place place(std::size_t function, ValueId value) { return std::uint64_t{function} << 32 | value; }

bool makes_reference(const Instr& i) {
  if (i.op != Op::kCallExt || i.args[0] != Arg::lit(atoms::erlang) || !i.args[1].is_literal()) return false;
  const BifInfo* known =
      find_erlang_function(i.args[1].literal, static_cast<std::uint32_t>(i.args.size() - 2));
  return known && known->makes_reference;
}

class ReceiveMarkers {
 public:
  explicit ReceiveMarkers(Program& p) : p_(p) {}

  void run() {
    find_uses();
    if (awaited_.empty()) return;
    find_references();
    spread();
    for (std::size_t f = 0; f < p_.functions.size(); ++f)
      for (Block& b : p_.functions[f].blocks) rewrite(f, b);
  }

 private:
  template <class F>
  void for_instructions(F&& f) {
    for (std::size_t function = 0; function < p_.functions.size(); ++function) {
      for (const Block& b : p_.functions[function].blocks)
        for (const Instr& i : b.code) f(function, i);
    }
  }

  void find_uses() {
    for_instructions([&](std::size_t f, const Instr& i) {
      if (i.op == Op::kMarkerUse) awaited_.insert(place(f, i.args[0].value));
    });
  }

  /// Finds where references are made, and which values local calls pass to parameters of their
  /// callees.
  void find_references() {
    for_instructions([&](std::size_t f, const Instr& i) {
      if (makes_reference(i)) made_.insert(place(f, i.dst()));
      if (i.op != Op::kCall) return;
      const Function& callee = p_.functions[i.imm];
      for (std::size_t k = 0; k < i.args.size(); ++k) {
        if (i.args[k].is_value())
          passed_.emplace_back(place(f, i.args[k].value), place(i.imm, callee.params[k]));
      }
    });
  }

  /// A value that is passed to an awaited parameter is awaited. A parameter to which a reference is
  /// passed may be a reference.
  void spread() {
    for (bool more = true; more;) {
      more = false;
      for (auto [from, to] : passed_) {
        if (awaited_.contains(to)) more |= awaited_.insert(from).second;
        if (made_.contains(from)) more |= may_be_made_.insert(to).second;
        if (may_be_made_.contains(from)) more |= may_be_made_.insert(to).second;
      }
    }
  }

  /// reserve; Ref = make_ref(); bind; …; use
  void rewrite(std::size_t f, Block& b) {
    auto has_change = [&](const Instr& i) {
      return i.op == Op::kMarkerUse || (makes_reference(i) && awaited_.contains(place(f, i.dst())));
    };
    if (std::none_of(b.code.begin(), b.code.end(), has_change)) return;
    std::vector<Instr> code;
    for (Instr& i : b.code) {
      if (i.op == Op::kMarkerUse) {
        const Place used = place(f, i.args[0].value);
        if (made_.contains(used) || may_be_made_.contains(used)) code.push_back(i);
      } else if (has_change(i)) {
        const ValueId marker = p_.functions[f].new_value();
        Instr reserve{.op = Op::kMarkerReserve};
        reserve.dsts = p_.arena.copy(&marker, 1);
        Instr bind{.op = Op::kMarkerBind};
        bind.args = p_.arena.copy(std::vector<Arg>{Arg::of(marker), Arg::of(i.dst())});
        code.insert(code.end(), {reserve, i, bind});
      } else {
        code.push_back(i);
      }
    }
    b.code = std::move(code);
  }

  Program& p_;
  std::unordered_set<Place> awaited_;      // by a receive, here or in a function it is passed to
  std::unordered_set<Place> made_;         // results of make_ref() and the like
  std::unordered_set<Place> may_be_made_;  // parameters that such a result is passed to
  std::vector<std::pair<Place, Place>> passed_;
};

}  // namespace

void place_receive_markers(Program& p) { ReceiveMarkers(p).run(); }

}  // namespace vmrun::ir

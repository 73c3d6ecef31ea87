// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "vm/jit/builder.hpp"

/// Calls of small functions of the same module are replaced by their code, as far as these call
/// nobody else: behind a call they go on in their own code, to which that call returns. The return
/// address is put onto the stack when something may look for it: a frame, a call, an exit.
namespace vmrun::jit {

using op::Family;

namespace {

constexpr std::size_t kMostParts = 30, kMostPartsOfAll = 240;

/// Whether what follows is reached from elsewhere alone, or has been called.
bool is_call(Family f) {
  switch (f) {
    case Family::call:
    case Family::call_ext:
    case Family::call_fun:
    case Family::apply: return true;
    default: return false;
  }
}

/// Whether the function returns on some way without having called another, and has nothing that is
/// entered from outside.
bool may_be_inlined(const FunctionCode& code) {
  const auto parts = code.parts();
  if (parts.size() > kMostParts) return false;
  std::vector<bool> reached(parts.size() + 1);
  reached[0] = true;
  bool returns = false;
  for (std::size_t n = 0; n < parts.size(); ++n) {
    const Part& p = parts[n];
    if (p.family == Family::enterable || p.family == Family::begin_catch) return false;
    if (!reached[n]) continue;
    returns |= p.family == Family::return_;
    for_targets(code, p, [&](const Word* to) {
      if (code.holds(to)) reached[code.part_at(to)] = true;
    });
    const auto row = op::kInstructions[op::kVariants[op::kFamilyStart[static_cast<unsigned>(p.family)]]];
    if (!(row.flags & InstructionRow::kEnds) && !is_call(p.family)) reached[n + 1] = true;
  }
  return returns;
}

}  // namespace

const Builder::Inlinable* Builder::inlinable(const Word* entry) {
  const auto [it, is_new] = inlinable_.try_emplace(entry);
  if (!is_new) return it->second.get();
  const FunctionHeader& f = *header_of_entry(entry);
  if (f.arity >= kScratchPlace) return nullptr;
  auto made = std::make_unique<Inlinable>(around_.read_unchanged(f), std::vector<RegisterSet>{});
  if (!made->code || !may_be_inlined(*made->code)) return nullptr;
  made->live = live_registers(*made->code);
  if (!made->live.empty()) it->second = std::move(made);
  return it->second.get();
}

bool Builder::inline_call(const Part& p, const Word* target) {
  if (inlined_ || !only_result_is_live(code_.part_at(p.next))) return false;
  const Inlinable* const f = inlinable(target);
  if (!f || inlined_parts_ + f->code->parts().size() > kMostPartsOfAll) return false;
  inlined_parts_ += f->code->parts().size();
  if (std::ranges::find(g_.inlined, &f->code->function()) == g_.inlined.end())
    g_.inlined.push_back(&f->code->function());
  InlinedCall call{p.next, {}};
  Builder(*f->code, f->live, around_, &g_).run_inlined(block_, state_, &call);
  block_ = kNone;
  returns_to_.insert(p.next);
  for (Incoming& e : call.returned) {
    State s;
    s.x[0] = e.state.x[0];
    s.y = std::move(e.state.callers_y);
    s.narrowed = std::move(e.state.narrowed);
    incoming_[p.next].push_back({e.block, std::move(s)});
  }
  return true;
}

void Builder::run_inlined(BlockId block, const State& at_call, InlinedCall* call) {
  inlined_ = call;
  block_ = block;
  const unsigned arity = code_.function().arity;
  std::copy_n(at_call.x.begin(), arity, state_.x.begin());
  state_.narrowed = at_call.narrowed;
  state_.callers_y = at_call.y;
  at_ = code_.function().entry();
  const ExitId used_up =
      exit_at(at_, {(std::uint64_t{1} << arity) - 1, 0}, state_.x, state_.floats, return_to());
  g_.exits[used_up].how = How::kYield;
  act(Op::kCountCall, {}, reinterpret_cast<Word>(call->return_to), used_up);
  build_parts();
}

void Builder::store_return() {
  if (!return_to()) return;
  act(Op::kPushReturn, {}, reinterpret_cast<Word>(return_to()));
  state_.return_is_stored = true;
  start_return_ = nullptr;
  exit_ = exit_of_guess_ = kNone;
}

void Builder::return_inlined() {
  store_all();
  if (state_.return_is_stored) act(Op::kMoveStack, {}, 1);
  inlined_->returned.push_back({block_, state_});
  block_ = kNone;
}

}  // namespace vmrun::jit

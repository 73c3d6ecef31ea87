// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "vm/jit/builder.hpp"
#include "vm/jit/process_offsets.hpp"
#include "vm/term/layout.hpp"

/// Calls of small functions of the same module are replaced by their code, as far as these call
/// nobody else: behind a call they go on in their own code, to which that call returns. The return
/// address is put onto the stack when something may look for it: a frame, a call, an exit.
///
/// Calls of funs likewise: that the fun is one of those that have been called there is a guess, so
/// the address of its code is compared with theirs. Another version of the module has another one.
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

}  // namespace

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

const Builder::Inlinable* Builder::inlinable(const Word* entry) {
  if (const auto known = inlinable_.find(entry); known != inlinable_.end()) return known->second.get();
  const auto code = around_.read_unchanged(*header_of_entry(entry));
  if (code) return inlinable(code);
  inlinable_[entry] = nullptr;
  return nullptr;
}

const Builder::Inlinable* Builder::inlinable(const std::shared_ptr<const FunctionCode>& code) {
  const FunctionHeader& f = code->function();
  const auto [it, is_new] = inlinable_.try_emplace(f.entry());
  if (!is_new || f.arity >= kScratchPlace || !may_be_inlined(*code)) return it->second.get();
  auto live = live_registers(*code);
  if (!live.empty()) it->second = std::make_unique<Inlinable>(code, std::move(live));
  return it->second.get();
}

bool Builder::take_inlinable(const Inlinable& f) {
  const std::size_t parts = f.code->parts().size();
  if (inlined_parts_ + parts > kMostPartsOfAll) return false;
  inlined_parts_ += parts;
  if (std::ranges::find(g_.inlined, &f.code->function()) == g_.inlined.end())
    g_.inlined.push_back(&f.code->function());
  return true;
}

bool Builder::inline_call(const Part& p, const Word* target) {
  if (inlined_ || is_last_ || !only_result_is_live(code_.part_at(p.next))) return false;
  const Inlinable* const f = inlinable(target);
  if (!f || !take_inlinable(*f)) return false;
  replace_call(p, *f, false);
  return true;
}

void Builder::replace_call(const Part& p, const Inlinable& f, bool is_fun) {
  InlinedCall call{p.next, {}};
  Builder(*f.code, f.live, around_, &g_).run_inlined(block_, state_, &call, is_fun);
  block_ = kNone;
  returns_to_.insert(p.next);
  for (Incoming& e : call.returned) {
    State s;
    s.x[0] = e.state.x[0];
    s.y = std::move(e.state.callers_y);
    s.narrowed = std::move(e.state.narrowed);
    s.return_is_stored = state_.return_is_stored;
    s.callers_y = state_.callers_y;
    incoming_[p.next].push_back({e.block, std::move(s)});
  }
}

void Builder::inline_fun(const Part& p, const Inlinable& f, unsigned arity, ValueId fun, Word frame,
                         bool returns) {
  constexpr unsigned kFirst = sizeof(FunObject) / sizeof(Word);
  for (unsigned n = arity; n < f.code->function().arity; ++n)
    state_.x[n] = load(fun, kBoxedTag, kFirst + n - arity);
  store_all();
  if (returns) return replace_call(p, f, true);
  if (frame) act(Op::kMoveStack, {}, frame);
  Builder(*f.code, f.live, around_, &g_).run_last(block_, state_);
  block_ = kNone;
}

void Builder::inline_funs(const Part& p, unsigned arity, ValueId fun, Word frame, bool returns) {
  if (is_fun_ || (returns && !only_result_is_live(code_.part_at(p.next)))) return;
  if (inlined_) {
    // A recursive function whose own call has been inlined. What others call is not known.
    if (code_.function().entry() != g_.function) return;
    store_all();
    store_return();
  }
  const auto seen = around_.called_funs.find(at_);
  if (seen == around_.called_funs.end()) return leave_with(exit_of_guess());
  bool others = seen->second.others;
  ValueId code = kNone;
  for (const auto& function : seen->second.functions) {
    const Inlinable* const f = inlinable(function);
    if (!f || !take_inlinable(*f)) {
      others = true;
      continue;
    }
    if (code == kNone)
      code = word_of(Op::kLoad, {load(fun, kBoxedTag, 1, Type::of(kRaw))}, static_cast<Word>(kFunAddress));
    branch(Condition::kSame, {code}, reinterpret_cast<Word>(function->function().entry()));
    const BlockId other = block().otherwise;
    State before = state_;
    block_ = block().to;
    inline_fun(p, *f, arity, fun, frame, returns);
    block_ = other;
    state_ = std::move(before);
  }
  if (!others) leave_with(exit_of_guess());
}

void Builder::run_inlined(BlockId block, const State& at_call, InlinedCall* call, bool is_fun) {
  inlined_ = call;
  is_fun_ = is_fun;
  begin_in_place(block, at_call, call->return_to);
  build_parts();
}

void Builder::run_last(BlockId block, const State& at_call) {
  is_last_ = is_fun_ = true;
  begin_in_place(block, at_call, nullptr);
  build_parts();
}

void Builder::begin_in_place(BlockId block, const State& at_call, const Word* return_to) {
  block_ = block;
  const unsigned arity = code_.function().arity;
  std::copy_n(at_call.x.begin(), arity, state_.x.begin());
  state_.narrowed = at_call.narrowed;
  state_.callers_y = at_call.y;
  at_ = code_.function().entry();
  const ExitId used_up =
      exit_at(at_, {(std::uint64_t{1} << arity) - 1, 0}, state_.x, state_.floats, return_to);
  g_.exits[used_up].how = How::kYield;
  act(Op::kCountCall, {}, reinterpret_cast<Word>(return_to), used_up);
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

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>

#include "vm/jit/builder.hpp"
#include "vm/term/layout.hpp"

namespace vmrun::jit {

using op::Family;

void Builder::call(const Part& p, unsigned arity, const Word* target, Word address_at, bool returns) {
  store_all();
  if (target && returns && inline_call(p, target)) return;
  if (target == code_.function().entry() && !returns && call_again()) return;
  store_return();
  Block& b = block();
  for (unsigned n = 0; n < arity; ++n) b.args.push_back(state_.x[n]);
  b.target = target;
  b.imm = address_at;
  if (returns) {
    b.return_to = p.next;
    returns_to_.insert(p.next);
  }
  end_with(target ? BlockEnd::kCall : BlockEnd::kCallAt);
}

void Builder::end_with_call(unsigned arity) {
  block().args.assign(state_.x.begin(), state_.x.begin() + arity);
  block().target = code_.function().entry();
  end_with(BlockEnd::kCall);
}

void Builder::call_fun(const Part& p, unsigned arity, ValueId fun, Word frame, bool returns) {
  const auto rarely = [&] { leave(); };
  require_boxed(fun, Type::kFun, Condition::kHeaderMasked,
                masked(kHeaderSubMask, sub_header(Term::Sub::kFun)), rarely, true);
  const auto go = [&](ValueId target, BlockEnd end) {
    store_all();
    store_return();
    if (frame) act(Op::kMoveStack, {}, frame);
    block().args.assign(state_.x.begin(), state_.x.begin() + arity);
    block().args.push_back(target);
    block().imm = arity;
    if (returns) block().return_to = p.next;
    end_with(end);
  };
  if (returns) returns_to_.insert(p.next);
  require(Condition::kFunArity, {fun}, arity, [&] {
    require(Condition::kFunParameters, {fun}, arity, rarely, true);
    static_assert(offsetof(FunObject, exported) == sizeof(Word));
    go(load(fun, kBoxedTag, 1, Type::of(kRaw)), BlockEnd::kCallExport);
  });
  inline_funs(p, arity, fun, frame, returns);
  if (block_ != kNone) go(fun, BlockEnd::kCallFun);
}

void Builder::call_bif(const Part& p) {
  const auto o = code_.operands(p);
  const auto arity = static_cast<unsigned>(o[1].value);
  returns_to_.insert(p.next);
  if (!p.begins) return leave();  // the instruction would begin again
  store_return();
  std::vector<ValueId> args(state_.x.begin(), state_.x.begin() + arity);
  act(Op::kCount, {}, 0, exit());
  const ValueId result = g_.value(Op::kCallBif, Type{}, o[2].value);
  append(Op::kCallBif, result, args, o[2].value);
  block().code.back().next = p.next;
  const bool return_is_stored = state_.return_is_stored;
  state_ = State();
  state_.return_is_stored = return_is_stored;
  state_.x[0] = result;
  if (only_result_is_live(code_.part_at(p.next))) return;
  block().exit = exit_at(p.next, {1, 0}, state_.x, state_.floats, return_to());
  end_with(BlockEnd::kExit);
}

void Builder::apply(const Part& p, bool returns) {
  const auto o = code_.operands(p);
  const auto arity = static_cast<unsigned>(o[0].value);
  if (returns) returns_to_.insert(p.next);
  if (arity + 1 >= kScratchPlace) return leave();
  store_return();
  const ValueId target = invoke(returns ? callees::applied : callees::applied_last,
                                {state_.x[arity], state_.x[arity + 1], number(arity)});
  require(
      Condition::kDiffers, {target}, 0, [&] { leave(); }, true);
  store_all();
  if (!returns) {
    act(Op::kMoveStack, {}, o[1].value);
    state_.y.clear();
  }
  block().args.assign(state_.x.begin(), state_.x.begin() + arity);
  block().args.push_back(target);
  if (returns) block().return_to = p.next;
  end_with(BlockEnd::kCallExport);
}

void Builder::build_call(const Part& p) {
  const auto o = code_.operands(p);
  switch (p.family) {
    case Family::call: return call(p, header_of_entry(o[0].target())->arity, o[0].target(), 0, true);
    case Family::call_only: return call(p, header_of_entry(o[0].target())->arity, o[0].target(), 0, false);
    case Family::call_ext:
    case Family::call_ext_only: {
      const auto* e = reinterpret_cast<const Export*>(o[0].value);
      return call(p, e->arity, nullptr, reinterpret_cast<Word>(&e->address), p.family == Family::call_ext);
    }
    case Family::call_fun: return call_fun(p, static_cast<unsigned>(o[0].value), get(o[1]), 0, true);
    case Family::call_fun_last:
      return call_fun(p, static_cast<unsigned>(o[0].value), get(o[1]), o[2].value, false);
    case Family::call_bif:
    case Family::call_located_bif: return call_bif(p);
    case Family::begin_catch: return set(o[0], constant(Term::catch_at(o[1].target()).raw()));
    case Family::try_end: return set(o[0], constant(Term::nil().raw()));
    case Family::catch_end: {
      const ValueId v = state_.x[0];
      require(
          Condition::kDiffers, {v}, 0, [&] { leave(); }, true);
      return set(o[0], constant(Term::nil().raw()));
    }
    case Family::try_case:
      set(o[0], constant(Term::nil().raw()));
      std::copy_n(state_.x.begin() + 1, 3, state_.x.begin());
      return;
    case Family::apply: return apply(p, true);
    case Family::apply_last: return apply(p, false);
    default: return build_process(p);
  }
}

}  // namespace vmrun::jit

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "vm/jit/builder.hpp"

/// A function that calls itself last is a loop: its code is built a second time, for what is known
/// of the arguments of these calls, which are jumps then. A number that has just been computed as a
/// float stays one in a register. Arguments of another kind call the function.
namespace vmrun::jit {

using op::Family;

namespace {

constexpr std::size_t kMostParts = 120;

/// Whether nothing in it is entered from outside but where calls return to.
bool may_be_loop(const FunctionCode& code) {
  return code.parts().size() <= kMostParts && std::ranges::none_of(code.parts(), [](const Part& p) {
           return p.family == Family::enterable || p.family == Family::begin_catch;
         });
}

/// What a type says in each round: bounds would have to be found out.
Type without_bounds(Type t) {
  t.low = Type::kLeast;
  t.high = Type::kMost;
  return t;
}

}  // namespace

bool Builder::call_again() {
  if (loop_) {
    for (std::size_t k = 0; k < loop_->params.size(); ++k) {
      const ValueId v = state_.x[k];
      const Type t = without_bounds(type(v));
      if (loop_->is_float[k] ? !g_.unboxed.contains(v) : loop_->types[k].join(t) != loop_->types[k])
        return false;
    }
    jump_to_loop(*loop_);
    return true;
  }
  if (inlined_ || is_last_ || !may_be_loop(code_)) return false;
  calls_again_.push_back({block_, state_});
  block_ = kNone;
  return true;
}

void Builder::jump_to_loop(const Loop& loop) {
  for (std::size_t k = 0; k < loop.params.size(); ++k)
    block().args.push_back(loop.is_float[k] ? g_.unboxed.at(state_.x[k]) : state_.x[k]);
  block().to = loop.head;
  end_with(BlockEnd::kJump);
}

void Builder::build_loop() {
  if (calls_again_.empty()) return;
  Loop loop;
  const std::size_t blocks = g_.blocks.size();
  // What may use the room on the heap leaves none for the terms that exits make of floats.
  const auto use_heap = [&](std::size_t from) {
    return std::any_of(g_.blocks.begin() + static_cast<std::ptrdiff_t>(from), g_.blocks.end(),
                       [](const Block& b) { return std::ranges::any_of(b.code, uses_heap_elsewhere); });
  };
  bool is_made = build_loop_for(!use_heap(0), &loop);
  if (is_made && std::ranges::count(loop.is_float, true) && use_heap(blocks)) {
    g_.blocks.resize(blocks);
    loop = {};
    is_made = build_loop_for(false, &loop);
  }
  for (Incoming& e : calls_again_) {
    block_ = e.block;
    state_ = std::move(e.state);
    at_ = block().code.empty() ? code_.function().entry() : block().code.back().at;
    if (is_made) jump_to_loop(loop);
    else end_with_call(code_.function().arity);
  }
}

bool Builder::build_loop_for(bool may_unbox, Loop* loop) {
  // Nothing comes into a loop from outside, so what calls keep in y registers is known behind them.
  bool is_useful = !g_.inlined.empty();
  for (unsigned k = 0; k < code_.function().arity; ++k) {
    Type t = Type::of(std::uint16_t{0});
    bool is_float = may_unbox;
    for (const Incoming& e : calls_again_) {
      t = t.join(without_bounds(type_in(e.state, e.state.x[k])));
      is_float &= g_.unboxed.contains(e.state.x[k]);
    }
    loop->types.push_back(t);
    loop->is_float.push_back(is_float);
    is_useful |= is_float || t.kinds != Type::kAny;
  }
  if (!is_useful) return false;
  Builder again(code_, live_, around_, &g_);
  again.at_ = code_.function().entry();
  again.block_ = loop->head = again.new_block();
  for (unsigned k = 0; k < code_.function().arity; ++k) {
    const ValueId v = loop->is_float[k] ? g_.value(Op::kFloatParam, Type{}, kNone)
                                        : g_.value(Op::kParam, loop->types[k], kNone);
    again.state_.x[k] = v;
    again.block().params.push_back(v);
  }
  loop->params = again.block().params;
  again.inlined_parts_ = inlined_parts_;
  again.loop_ = loop;
  again.run_loop();
  return true;
}

void Builder::run_loop() {
  const RegisterSet arguments{(std::uint64_t{1} << code_.function().arity) - 1, 0};
  const ExitId used_up = exit_at(at_, arguments, state_.x, state_.floats, nullptr);
  g_.exits[used_up].how = How::kYield;
  act(Op::kCountCall, {}, 0, used_up);
  const auto floats = static_cast<Word>(std::ranges::count(loop_->is_float, true));
  if (floats) {
    // Where they are needed as terms. Else nothing is made of them (unboxing.cpp).
    act(Op::kNeed, {}, 2 * floats + kStackReserveWords,
        exit_at(at_, arguments, state_.x, state_.floats, nullptr));
    for (std::size_t k = 0; k < loop_->params.size(); ++k)
      if (loop_->is_float[k]) state_.x[k] = box(loop_->params[k]);
  }
  build_parts();
}

}  // namespace vmrun::jit

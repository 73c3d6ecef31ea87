// SPDX-License-Identifier: Apache-2.0
#include "vm/jit/builder.hpp"
#include "vm/message/receive.hpp"

namespace vmrun::jit {

using op::Family;

/// A message that is not sent at once is the interpreter's, which does the instruction again then.
void Builder::send(const Part& p) {
  if (!p.begins) return leave();
  const ValueId to = state_.x[0], message = state_.x[1];
  act(Op::kCount, {}, 0, exit());
  const ValueId sent = invoke(callees::send, {to, message});
  require(
      Condition::kDiffers, {sent}, 0, [&] { leave_for(at_, How::kFailed); }, true);
  state_.x.fill(kNone);
  state_.x[0] = message;
}

void Builder::next_message(const Part& p) {
  const auto o = code_.operands(p);
  const ValueId at_hand = emit(Op::kPeek, Type{}, {});
  branch(Condition::kDiffers, {at_hand}, 0);
  std::vector<Incoming> edges{{block().to, state_}};
  block_ = block().otherwise;
  const ValueId found = invoke(callees::next_message, {}, Type{});
  require(Condition::kDiffers, {found}, callees::kNoMessage, [&] { go_to(o[1].target()); });
  require(
      Condition::kDiffers, {found}, callees::kExiting, [&] { leave_for(at_, How::kExiting); }, true);
  edges.push_back({block_, state_});
  set(o[0], join(edges, {at_hand, found}));
}

void Builder::start_timer(const Part& p) {
  const auto o = code_.operands(p);
  const ValueId state = invoke(callees::start_timer, {get(o[1])});
  constexpr auto kWait = static_cast<Word>(TimeoutState::kWait),
                 kExpired = static_cast<Word>(TimeoutState::kExpired);
  require(Condition::kDiffers, {state}, kWait, [&] { leave_for(o[0].target(), How::kWait); });
  require(
      Condition::kSame, {state}, kExpired, [&] { leave_as_asked(); }, true);
}

void Builder::build_process(const Part& p) {
  const auto o = code_.operands(p);
  switch (p.family) {
    case Family::enterable: resumes_at_.insert(p.next); return;
    case Family::send: return send(p);
    case Family::loop_rec: return next_message(p);
    case Family::loop_rec_end:
      act(Op::kCount, {}, 0, exit());
      act(Op::kPassMessage, {});
      return go_to(o[0].target());
    case Family::remove_message: {
      const ValueId much = invoke(callees::remove_message, {});
      return require(
          Condition::kSame, {much}, 0, [&] { leave_for(p.next, How::kCollectSoon); }, true);
    }
    case Family::timeout: invoke(callees::time_is_up, {}); return;
    case Family::wait: return leave_for(o[0].target(), How::kWait);
    case Family::wait_timeout: return start_timer(p);
    case Family::recv_marker_reserve: return set(o[0], invoke(callees::reserve_marker, {}, Type{}));
    case Family::recv_marker_bind: invoke(callees::bind_marker, {get(o[0]), get(o[1])}); return;
    case Family::recv_marker_clear: invoke(callees::clear_marker, {get(o[0])}); return;
    case Family::recv_marker_use: invoke(callees::use_marker, {get(o[0])}); return;
    default: return build_test(p);
  }
}

}  // namespace vmrun::jit

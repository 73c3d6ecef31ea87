// SPDX-License-Identifier: Apache-2.0
#include "vm/jit/build_graph.hpp"

#include <algorithm>

#include "vm/jit/builder.hpp"

namespace vmrun::jit {

using op::Family;

void Builder::run() {
  begin_at_entry();
  build_parts();
  build_loop();
}

void Builder::build_parts() {
  const auto parts = code_.parts();
  for (std::size_t n = 0; n < parts.size(); ++n) {
    const Part& p = parts[n];
    settle_position(p);
    if (p.begins) begin_instruction(n);
    if (block_ == kNone) continue;
    build_move(p);
    if (p.ends && block_ != kNone) store_all();
  }
  if (block_ != kNone) leave();  // the code ends in an instruction that never falls through
}

BlockId Builder::new_block() {
  g_.blocks.emplace_back();
  g_.blocks.back().inlined_return = return_to();
  return static_cast<BlockId>(g_.blocks.size() - 1);
}

void Builder::begin_at_entry() {
  block_ = new_block();
  g_.function = block().entry = code_.function().entry();
  g_.fun = around_.fun;
  for (unsigned n = 0; n < code_.function().arity; ++n) {
    if (n < kRegisterArguments) {
      state_.x[n] = g_.value(Op::kParam, Type{}, n);
      block().params.push_back(state_.x[n]);
    } else {
      state_.x[n] = emit(Op::kLoadX, Type{}, {}, n);
    }
  }
}

Incoming Builder::entered_at(const Word* at, std::uint64_t registers) {
  Incoming edge{new_block(), {}};
  Block& b = g_.blocks[edge.block];
  b.entry = at;
  for (unsigned n = 0; n < kRegisterArguments; ++n) {
    if (!(registers >> n & 1)) continue;
    edge.state.x[n] = g_.value(Op::kParam, Type{}, n);
    b.params.push_back(edge.state.x[n]);
  }
  return edge;
}

void Builder::begin_instruction(std::size_t n) {
  const Part& p = code_.parts()[n];
  at_ = p.at;
  first_part_ = n;
  if (!inlined_ && !is_last_ && !loop_ && returns_to_.contains(at_) && only_result_is_live(n))
    incoming_[at_].push_back(entered_at(at_, 1));
  const bool may_resume =
      resumes_at_.contains(at_) && !(live_[n].x >> kRegisterArguments) && !live_[n].floats;
  if (may_resume) incoming_[at_].push_back(entered_at(at_, live_[n].x));
  if (const auto it = incoming_.find(at_); it != incoming_.end()) {
    if (block_ != kNone) {
      const BlockId edge = block_;
      block_ = kNone;
      it->second.push_back({edge, std::move(state_)});
    }
    leave_where_unknown(&it->second, n);
    if (!it->second.empty()) merge(it->second, n);
    incoming_.erase(it);
  } else if (block_ != kNone) {
    std::vector<Incoming> edge;
    edge.push_back({block_, std::move(state_)});
    leave_where_unknown(&edge, n);
    block_ = kNone;
    join(edge);
  }
  exit_ = exit_of_guess_ = kNone;
  if (block_ == kNone) return;
  if (may_resume && !live_[n].x) {  // a loop begins here: nothing is known
    const BlockId head = new_block();
    block().end = BlockEnd::kJump;
    block().to = head;
    block_ = loops_[at_] = head;
    state_ = State();
  }
  start_x_ = state_.x;
  start_floats_ = state_.floats;
  start_return_ = return_to();
  if (begins_again_in_the_middle(n)) leave();
}

void Builder::leave_where_unknown(std::vector<Incoming>* edges, std::size_t n) {
  std::erase_if(*edges, [&](const Incoming& e) {
    bool known = true;
    for (unsigned k = 0; k < kMostX; ++k) known &= !(live_[n].x >> k & 1) || e.state.x[k] != kNone;
    if (known) return false;
    block_ = e.block;
    block().exit = exit_at(at_, live_[n], e.state.x, e.state.floats, return_to(inlined_, e.state));
    end_with(BlockEnd::kExit);
    return true;
  });
}

bool Builder::begins_again_in_the_middle(std::size_t n) const {
  bool changed = false;
  for (;; ++n) {
    const Part& p = code_.parts()[n];
    if (changed && may_leave(p.family)) return true;
    if (p.ends) return false;
    changed |= p.family == Family::allocate || p.family == Family::deallocate;
  }
}

bool Builder::may_leave(Family f) {
  switch (f) {
    case Family::move:
    case Family::swap:
    case Family::init:
    case Family::init_list:
    case Family::deallocate:
    case Family::return_:
    case Family::call:
    case Family::call_only:
    case Family::call_ext:
    case Family::call_ext_only:
    case Family::jump:
    case Family::get_list:
    case Family::get_hd:
    case Family::get_tl:
    case Family::match_list:
    case Family::is_nonempty_list:
    case Family::is_nil:
    case Family::get_tuple_element:
    case Family::get_two_elements:
    case Family::get_three_elements:
    case Family::put_list:
    case Family::put_tuple1:
    case Family::put_tuple2:
    case Family::put_tuple3:
    case Family::put_tuple:
    case Family::fload:
    case Family::fstore: return false;
    default: return true;
  }
}

void Builder::merge(std::vector<Incoming>& edges, std::size_t n) {
  if (edges.size() == 1) {
    block_ = edges[0].block;
    state_ = std::move(edges[0].state);
    return;
  }
  store_returns_alike(edges);
  const BlockId to = new_block();
  State joined;
  const auto choose = [&](auto member, unsigned k, bool is_needed) {
    const ValueId v = (edges[0].state.*member)[k];
    bool same = true, known = v != kNone;
    for (const Incoming& e : edges) {
      same &= (e.state.*member)[k] == v;
      known &= (e.state.*member)[k] != kNone;
    }
    if (!is_needed || !known) return;
    if (same) {
      (joined.*member)[k] = v;
      return;
    }
    Type type = Type::of(std::uint16_t{0});
    for (const Incoming& e : edges) type = type.join(type_in(e.state, (e.state.*member)[k]));
    const ValueId param = g_.value(g_.is_float(v) ? Op::kFloatParam : Op::kParam, type, kNone);
    (joined.*member)[k] = param;
    g_.blocks[to].params.push_back(param);
    for (const Incoming& e : edges) g_.blocks[e.block].args.push_back((e.state.*member)[k]);
  };
  for (unsigned k = 0; k < kMostX; ++k) choose(&State::x, k, live_[n].x >> k & 1);
  for (unsigned k = 0; k < kMostFloats; ++k) choose(&State::floats, k, live_[n].floats >> k & 1);
  joined.narrowed = narrowed_by_all(edges);
  joined.matching = edges[0].state.matching;
  for (const Incoming& e : edges) joined.matching = common(joined.matching, e.state.matching);
  joined.return_is_stored = edges[0].state.return_is_stored;
  const auto keep_common = [&](auto known) {
    for (const auto& y : edges[0].state.*known)
      if (std::ranges::all_of(edges,
                              [&](const Incoming& e) { return std::ranges::count(e.state.*known, y); }))
        (joined.*known).push_back(y);
  };
  keep_common(&State::y);
  keep_common(&State::callers_y);
  lead(edges, to);
  state_ = std::move(joined);
  block().inlined_return = return_to();
}

void Builder::store_returns_alike(std::vector<Incoming>& edges) {
  if (std::ranges::none_of(edges, [](const Incoming& e) { return e.state.return_is_stored; })) return;
  for (Incoming& e : edges) {
    block_ = e.block;
    std::swap(state_, e.state);
    store_return();
    std::swap(state_, e.state);
  }
  block_ = kNone;
}

std::vector<std::pair<ValueId, Type>> Builder::narrowed_by_all(const std::vector<Incoming>& edges) const {
  std::vector<std::pair<ValueId, Type>> narrowed;
  for (const auto& [v, type] : edges[0].state.narrowed) {
    Type all = Type::of(std::uint16_t{0});
    for (const Incoming& e : edges) all = all.join(type_in(e.state, v));
    if (all != g_.types[v]) narrowed.emplace_back(v, all);
  }
  return narrowed;
}

void Builder::lead(const std::vector<Incoming>& edges, BlockId to) {
  for (const Incoming& e : edges) {
    g_.blocks[e.block].end = BlockEnd::kJump;
    g_.blocks[e.block].to = to;
  }
  block_ = to;
}

ValueId Builder::emit(Op op, Type type, std::initializer_list<ValueId> args, Word imm, ExitId exit) {
  const ValueId v = g_.value(op, type, imm);
  append(op, v, std::span(args.begin(), args.size()), imm, exit);
  return v;
}

void Builder::append(Op op, ValueId dst, std::span<const ValueId> args, Word imm, ExitId exit) {
  const auto first = static_cast<std::uint32_t>(g_.args.size());
  g_.args.insert(g_.args.end(), args.begin(), args.end());
  block().code.push_back({op, dst, first, static_cast<std::uint32_t>(args.size()), exit, at_, imm});
}

void Builder::act(Op op, std::initializer_list<ValueId> args, Word imm, ExitId exit) {
  append(op, kNone, std::span(args.begin(), args.size()), imm, exit);
}

ValueId Builder::constant(Word w) {
  const auto [it, is_new] = constants_.try_emplace(w, kNone);
  if (is_new) it->second = g_.value(Op::kConst, Type::of(Term::from_raw(w)), w);
  return it->second;
}

ValueId Builder::number(Word w) {
  const auto [it, is_new] = numbers_.try_emplace(w, kNone);
  if (is_new) it->second = g_.value(Op::kConst, Type::of(std::uint16_t{0}), w);
  return it->second;
}

ValueId Builder::invoke(const Callee& callee, std::initializer_list<ValueId> args, Type type) {
  return emit(Op::kCall, type, args, reinterpret_cast<Word>(&callee));
}

void Builder::collect_soon_if_left(const Part& p) {
  branch(Condition::kFragments, {}, 0);
  const BlockId some = block().to, none = block().otherwise;
  State kept = state_;
  block_ = some;
  block().rare = true;
  leave_for(p.next, How::kCollectSoon);
  block_ = none;
  state_ = std::move(kept);
}

ValueId Builder::get(const Operand& o) {
  switch (o.kind) {
    case Operand::Kind::kX: return state_.x[place_of_x(o.value)];
    case Operand::Kind::kY: {
      for (const auto& [slot, v] : state_.y)
        if (slot == o.value) return v;
      const ValueId v = emit(Op::kLoadY, Type{}, {}, o.value);
      state_.y.emplace_back(o.value, v);
      return v;
    }
    default: return constant(o.value);
  }
}

void Builder::set(const Operand& o, ValueId v) {
  if (o.is_x()) {
    state_.x[place_of_x(o.value)] = v;
    return;
  }
  state_.unstored.emplace_back(o.value, v);
  std::erase_if(state_.y, [&](const auto& known) { return known.first == o.value; });
  state_.y.emplace_back(o.value, v);
}

void Builder::store_all() {
  for (const auto& [slot, v] : state_.unstored) act(Op::kStoreY, {v}, slot);
  state_.unstored.clear();
}

Type Builder::type_in(const State& s, ValueId v) const {
  for (std::size_t n = s.narrowed.size(); n-- > 0;)
    if (s.narrowed[n].first == v) return s.narrowed[n].second;
  return g_.types[v];
}

void Builder::narrow(ValueId v, const Type& by) {
  if (g_.is_const(v)) return;
  const Type now = type(v).meet(by);
  if (now != type(v)) state_.narrowed.emplace_back(v, now);
}

void Builder::exclude(ValueId v, unsigned kinds) {
  narrow(v, Type::of(static_cast<std::uint16_t>(Type::kAny & ~kinds)));
}

ExitId Builder::exit() {
  if (exit_ == kNone) exit_ = exit_at(at_, live_[first_part_], start_x_, start_floats_, start_return_);
  return exit_;
}

ExitId Builder::exit_of_guess() {
  if (exit_of_guess_ == kNone) {
    exit_of_guess_ = exit_at(at_, live_[first_part_], start_x_, start_floats_, start_return_);
    g_.exits.back().how = How::kGuessed;
  }
  return exit_of_guess_;
}

void Builder::end_with(BlockEnd end) {
  block().end = end;
  block().at = at_;
  block_ = kNone;
}

void Builder::leave() { leave_with(exit()); }

void Builder::leave_with(ExitId e) {
  block().exit = e;
  end_with(BlockEnd::kExit);
}

void Builder::leave_as_asked() {
  block().exit = exit_at(at_, live_[first_part_], start_x_, start_floats_, start_return_);
  g_.exits.back().is_asked_for = true;
  end_with(BlockEnd::kExit);
}

void Builder::leave_for(const Word* at, How how) {
  store_all();
  block().exit = exit_at(at, code_.holds(at) ? live_[code_.part_at(at)] : RegisterSet{}, state_.x,
                         state_.floats, return_to());
  g_.exits.back().how = how;
  end_with(BlockEnd::kExit);
}

void Builder::go_to(const Word* to) {
  store_all();
  if (code_.holds(to) && to > at_) {
    incoming_[to].push_back({block_, state_});
    block_ = kNone;
    return;
  }
  if (const auto loop = loops_.find(to); loop != loops_.end()) {
    block().to = loop->second;
    return end_with(BlockEnd::kJump);
  }
  // Back, or to where function_clause is raised.
  const bool is_back = code_.holds(to);
  RegisterSet needed;
  if (is_back) needed = live_[code_.part_at(to)];
  else needed.x = (std::uint64_t{1} << code_.function().arity) - 1;
  block().exit = exit_at(to, needed, state_.x, state_.floats, return_to());
  end_with(BlockEnd::kExit);
}

void Builder::branch(Condition c, std::initializer_list<ValueId> args, Word imm) {
  const BlockId yes = new_block(), no = new_block();
  Block& b = block();
  b.end = BlockEnd::kBranch;
  b.at = at_;
  b.condition = c;
  b.args = args;
  b.imm = imm;
  b.to = yes;
  b.otherwise = no;
}

void Builder::go_on(std::vector<Incoming>& here, std::vector<Incoming>& elsewhere, const Word* fail) {
  for (Incoming& e : elsewhere) {
    block_ = e.block;
    state_ = std::move(e.state);
    go_to(fail);
  }
  join(here);
}

void Builder::join(std::vector<Incoming>& edges) {
  if (edges.empty()) return;
  if (edges.size() == 1) {
    block_ = edges[0].block;
  } else {
    edges[0].state.narrowed = narrowed_by_all(edges);
    lead(edges, new_block());
  }
  state_ = std::move(edges[0].state);
}

ValueId Builder::join(std::vector<Incoming>& edges, const std::vector<ValueId>& values) {
  if (edges.size() == 1) {
    join(edges);
    return values[0];
  }
  Type type = Type::of(std::uint16_t{0});
  for (std::size_t n = 0; n < edges.size(); ++n) {
    g_.blocks[edges[n].block].args = {values[n]};
    type = type.join(type_in(edges[n].state, values[n]));
  }
  join(edges);
  const ValueId result = g_.value(g_.is_float(values[0]) ? Op::kFloatParam : Op::kParam, type, kNone);
  block().params.push_back(result);
  return result;
}

void Builder::fail_to(const Operand& label) {
  if (label.value) go_to(label.target());
  else leave();
}

bool Builder::only_result_is_live(std::size_t part) const {
  return !(live_[part].x & ~std::uint64_t{1}) && !live_[part].floats;
}

void Builder::build_move(const Part& p) {
  const auto o = code_.operands(p);
  switch (p.family) {
    case Family::move: return set(o[1], get(o[0]));
    case Family::swap: {
      const ValueId a = get(o[0]), b = get(o[1]);
      set(o[0], b);
      set(o[1], a);
      return;
    }
    case Family::init: return set(o[0], constant(Term::nil().raw()));
    case Family::init_list:
      for (const Word slot : p.list) set({Operand::Kind::kY, slot}, constant(Term::nil().raw()));
      return;
    case Family::allocate:
      store_return();
      need(o[2].value);
      store_all();
      act(Op::kMoveStack, {}, static_cast<Word>(-static_cast<SWord>(o[0].value)));
      state_.y.clear();
      return;
    case Family::deallocate:
      store_all();
      act(Op::kMoveStack, {}, o[0].value);
      state_.y.clear();
      return;
    case Family::test_heap: return need(o[1].value);
    case Family::return_:
      if (inlined_) return return_inlined();
      store_all();
      block().args = {state_.x[0]};
      return end_with(BlockEnd::kReturn);
    case Family::jump: return go_to(o[0].target());
    default: return build_call(p);
  }
}

void Builder::need(Word words) {
  // The return address of an inlined call may follow.
  act(Op::kNeed, {}, words + (return_to() ? 1 : 0), exit());
}

Refusal build_graph(const FunctionCode& code, const Surroundings& around, Graph* out) {
  if (code.function().arity >= kScratchPlace) return Refusal::kArguments;
  const std::vector<RegisterSet> live = live_registers(code);
  if (live.empty()) return Refusal::kRegisters;
  Builder(code, live, around, out).run();
  return Refusal::kNone;
}

}  // namespace vmrun::jit

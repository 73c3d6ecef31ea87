// Code generation: stack frames, what holds at the start of a block, ways from block to block.

#include <algorithm>

#include "runtime/compile/emit/function_gen.hpp"

namespace vmrun::compile {

using core::Fail;
using ssa::BlockEnd;

FunctionGen::FunctionGen(CodeBuilder& builder, ssa::Program& program, ssa::Function& fn,
                         const std::vector<std::uint32_t>& entries, std::uint32_t info_label)
    : builder_(builder),
      program_(program),
      fn_(fn),
      entries_(entries),
      info_label_(info_label),
      self_(static_cast<std::uint32_t>(&fn - program.functions.data())),
      live_(ssa::analyse(fn)),
      out_(&main_) {
  entry_.resize(fn.blocks.size());
  stubs_.resize(fn.blocks.size());
  framed_in_.resize(fn.blocks.size());
  fragile_in_.resize(fn.blocks.size());
  use_.resize(fn.value_count);
  loc_x_.assign(fn.value_count, -1);
  loc_y_.assign(fn.value_count, -1);
  small_.resize(fn.value_count);
  for (const Block& b : fn.blocks) {
    for (const Instr& i : b.code) {
      const bool number = (i.op == Op::kBif && (i.bif->gc || i.bif->boolean)) || i.op == Op::kFloatBox ||
                          i.op == Op::kBsGetPosition ||
                          (i.op == Op::kBsGet && i.spec.type != core::SegType::kBinary) ||
                          i.op == Op::kMarkerReserve;
      if (number && i.dst() != kNone)
        small_[i.dst()] =
            !(i.op == Op::kBif && i.bif->arity >= 2 && i.bif->name[0] == 'b' && i.bif->name[1] == 'i');
    }
    if (b.tag != kNone) small_[b.tag] = b.end != BlockEnd::kLoopRec;
  }
}

// --- frames --------------------------------------------------------------------------------------

/// A call that ends the function (or never comes back) needs no frame, except where only the form
/// with a frame exists.
bool FunctionGen::needs_frame(const Block& b) const {
  if (b.end == BlockEnd::kTry || b.end == BlockEnd::kCatch) return true;
  for (std::size_t k = 0; k < b.code.size(); k++) {
    const Instr& i = b.code[k];
    if (!ssa::is_call(i.op)) continue;
    const bool plain = i.op == Op::kCall || i.op == Op::kCallExt;
    const bool end = k + 1 == b.code.size();
    if (plain && end && b.end == BlockEnd::kUnreachable) continue;
    if (plain && end && b.end == BlockEnd::kReturn && b.subject == Arg::of(i.dst())) continue;
    return true;
  }
  return false;
}

/// How many try and catch are around a block.
std::uint32_t FunctionGen::nesting(const Block& b) const {
  std::uint32_t depth = 0;
  for (BlockId h = b.handler; h != kNone; h = fn_.blocks[h].handler) depth++;
  return depth;
}

void FunctionGen::plan_frames() {
  for (BlockId id : live_.order) {
    const Block& b = fn_.blocks[id];
    if (b.end == BlockEnd::kTry || b.end == BlockEnd::kCatch)
      tag_slots_ = std::max(tag_slots_, nesting(b) + 1);
  }
  for (BlockId id : live_.order) {
    const Block& b = fn_.blocks[id];
    if (b.is_loop_head && !b.live_in.empty()) framed_in_[id] = true;
    if (b.end == BlockEnd::kLoopRec) fragile_in_[b.succ] = true;
    if (fragile_in_[id] && (b.code.empty() || b.code[0].op != Op::kRemoveMessage)) {
      ssa::for_successors(b,
                          [&](BlockId t) { fragile_in_[t] = fragile_in_[t] || !fn_.blocks[t].is_loop_head; });
    }
    if (!framed_in_[id] && !needs_frame(b)) continue;
    ssa::for_successors(b, [&](BlockId t) { framed_in_[t] = true; });
  }
}

std::uint32_t FunctionGen::frame_root(std::uint32_t f) {
  while (frames_[f].same_as != f) f = frames_[f].same_as = frames_[frames_[f].same_as].same_as;
  return f;
}

/// Makes a frame, with heap for what comes from instruction `heap_from` on (kNone: nothing).
void FunctionGen::allocate(std::uint32_t heap_from) {
  HeapNeed need;
  if (heap_from != kNone) need = heap_need(heap_from);
  const std::uint32_t live = live_x();
  collection(live);
  frame_ = static_cast<std::uint32_t>(frames_.size());
  frames_.push_back({frame_, 0, false, {}});
  y_.clear();
  y_written_.clear();
  y_stale_.clear();
  if (need.none()) emit(Bop::kAllocate, {Operand::u(frame_), Operand::u(live)});
  else emit(Bop::kAllocateHeap, {Operand::u(frame_), need.operand(), Operand::u(live)});
}

/// Puts in the final sizes of frames and initialises what must be.
void FunctionGen::finish_frames() {
  std::vector<AsmInstr> done;
  done.reserve(main_.size() + frames_.size());
  for (AsmInstr& i : main_) {
    std::size_t at = 0;
    bool makes = false;
    switch (i.op) {
      case Bop::kAllocate:
      case Bop::kAllocateHeap: makes = true; break;
      case Bop::kDeallocate: break;
      case Bop::kCallLast:
      case Bop::kCallExtLast: at = 2; break;
      case Bop::kApplyLast: at = 1; break;
      default: done.push_back(std::move(i)); continue;
    }
    const Frame& f = frames_[frame_root(i.args[at].n)];
    i.args[at].n = f.slots;
    done.push_back(std::move(i));
    if (!makes || !f.seen_collection) continue;
    std::vector<Operand> raw{Operand::list(0)};
    for (std::uint32_t s = 0; s < f.slots; s++) {
      if (s >= f.written.size() || !f.written[s]) raw.push_back(Operand::y(s));
    }
    raw[0].n = static_cast<std::uint32_t>(raw.size() - 1);
    if (raw.size() > 1) done.push_back({Bop::kInitYregs, std::move(raw)});
  }
  main_ = std::move(done);
}

// --- entries of blocks ---------------------------------------------------------------------------

std::uint32_t FunctionGen::label_of(BlockId b) {
  Entry& e = entry_[b];
  if (e.label == 0) e.label = builder_.new_label();
  e.wanted = true;
  return e.label;
}

void FunctionGen::enter_block(BlockId id) {
  for (ValueId v : resident_) loc_x_[v] = loc_y_[v] = -1;
  resident_.clear();
  x_.clear();
  y_.clear();
  read_now_.clear();
  id_ = id;
  block_ = &fn_.blocks[id];
  heap_until_ = 0;
  fragile_ = fragile_in_[id] && (block_->code.empty() || block_->code[0].op != Op::kRemoveMessage);
  const Entry& e = entry_[id];
  frame_ = e.frame;
  for (const Place& p : e.places) {
    if (p.x >= 0) set_x(static_cast<std::uint32_t>(p.x), p.value);
    if (p.y >= 0) set_y(static_cast<std::uint32_t>(p.y), p.value);
  }
  for (std::size_t k = 0; k < block_->params.size(); k++) {
    const Operand& o = e.params[k];
    if (o.kind == Operand::kX) set_x(o.n, block_->params[k]);
    else set_y(o.n, block_->params[k]);
  }
  x_valid_ = e.x_valid;
  y_written_ = e.y_written;
  y_stale_ = e.y_stale;
  // When each value is used for the last time in this block.
  auto used = [&](Arg a, std::uint32_t at) {
    if (a.is_value() && !(use_[a.value].block == id && use_[a.value].last == kForever))
      use_[a.value] = {id, at};
  };
  auto forever = [&](BlockId b) {
    for (ValueId v : fn_.blocks[b].live_in) use_[v] = {id, kForever};
  };
  ssa::for_successors(*block_, forever);
  if (block_->handler != kNone) forever(block_->handler);
  clobbers_.clear();
  const auto n = static_cast<std::uint32_t>(block_->code.size());
  for (std::uint32_t k = 0; k < n; k++) {
    for (Arg a : block_->code[k].args) used(a, k);
    if (ssa::clobbers_x(block_->code[k].op)) clobbers_.push_back(k);
  }
  used(block_->subject, n);
  for (Arg a : block_->jump_args) used(a, n);
  if (block_->end == BlockEnd::kError && block_->error == Fail::kFunctionClause &&
      block_->jump_args.empty()) {
    for (ValueId v : fn_.params) used(Arg::of(v), n);
  }
  // What only the other side of the branch before needed.
  for (std::uint32_t r = 0; r < x_.size(); r++) {
    if (x_[r] != kNone && use_[x_[r]].block != id) release(x_[r]);
  }
  read_now_.clear();
}

/// Fixes where everything is when `to` starts: as it is now, as far as possible.
void FunctionGen::set_entry(BlockId to, std::span<const Arg> args) {
  const Block& b = fn_.blocks[to];
  Entry& e = entry_[to];
  e.set = true;
  e.frame = frame_;
  const bool only_y = b.is_handler || b.is_loop_head;
  const bool join = b.preds.size() > 1 || only_y;
  std::vector<bool> x_taken, y_taken;
  for (ValueId v : b.live_in) {
    Place p{v, only_y ? -1 : loc_x_[v], loc_y_[v]};
    if (join && p.y >= 0) p.x = -1;
    if (p.x >= 0)
      grow(x_taken, static_cast<std::size_t>(p.x) + 1), x_taken[static_cast<std::size_t>(p.x)] = true;
    if (p.y >= 0)
      grow(y_taken, static_cast<std::size_t>(p.y) + 1), y_taken[static_cast<std::size_t>(p.y)] = true;
    e.places.push_back(p);
  }
  auto taken = [](const std::vector<bool>& t, std::size_t r) { return r < t.size() && t[r]; };
  for (std::size_t k = 0; k < b.params.size(); k++) {
    const ssa::Hint hint = live_.hints[b.params[k]];
    Operand place;
    auto at_x = [&](std::size_t r) { return Operand::x(static_cast<std::uint32_t>(r)); };
    if (b.is_handler) {
      place = at_x(0);
    } else if (hint.x >= 0 && !taken(x_taken, static_cast<std::size_t>(hint.x))) {
      place = at_x(static_cast<std::size_t>(hint.x));
    } else if (hint.outlasts_call && frame_ != kNone) {
      std::uint32_t r = 0;
      if (args[k].is_value() && loc_y_[args[k].value] >= 0 &&
          !taken(y_taken, static_cast<std::size_t>(loc_y_[args[k].value])))
        r = static_cast<std::uint32_t>(loc_y_[args[k].value]);
      else
        for (r = tag_slots_; taken(y_taken, r);) r++;
      place = Operand::y(r);
      grow(y_taken, r + 1);
      y_taken[r] = true;
      Frame& f = frames_[frame_root(frame_)];
      f.slots = std::max(f.slots, r + 1);
    } else {
      std::size_t r = 0;
      if (args[k].is_value() && loc_x_[args[k].value] >= 0 &&
          !taken(x_taken, static_cast<std::size_t>(loc_x_[args[k].value])))
        r = static_cast<std::size_t>(loc_x_[args[k].value]);
      else
        while (taken(x_taken, r)) r++;
      place = at_x(r);
    }
    if (place.kind == Operand::kX) grow(x_taken, place.n + 1), x_taken[place.n] = true;
    e.params.push_back(place);
  }
  e.x_valid = x_taken;
  if (!join) {
    grow(e.x_valid, x_valid_.size());
    for (std::size_t r = 0; r < x_valid_.size(); r++) e.x_valid[r] = e.x_valid[r] || x_valid_[r];
  }
  e.y_written = y_written_;
  e.y_stale = y_stale_;
  grow(e.y_stale, y_taken.size());
  for (std::size_t r = 0; r < y_taken.size(); r++) e.y_stale[r] = e.y_stale[r] || y_taken[r];
  grow(e.y_written, y_taken.size());
  for (std::size_t r = 0; r < y_taken.size(); r++) e.y_written[r] = e.y_written[r] || y_taken[r];
}

/// The moves that make the present state that of the start of `to`.
std::vector<FunctionGen::Move> FunctionGen::conform(BlockId to, std::span<const Arg> args) {
  const Entry& e = entry_[to];
  std::vector<Move> moves;
  for (const Place& p : e.places) {
    if (p.x >= 0 && loc_x_[p.value] != p.x)
      moves.push_back({where(p.value), Operand::x(static_cast<std::uint32_t>(p.x))});
    if (p.y >= 0 && loc_y_[p.value] != p.y)
      moves.push_back({where(p.value), Operand::y(static_cast<std::uint32_t>(p.y))});
  }
  for (std::size_t k = 0; k < e.params.size(); k++) {
    Operand from = operand(args[k]);
    if (args[k].is_value() && e.params[k].kind == Operand::kY &&
        loc_y_[args[k].value] == static_cast<std::int32_t>(e.params[k].n))
      continue;
    if (!(from == e.params[k])) moves.push_back({from, e.params[k]});
  }
  return moves;
}

/// Both sides of a join run in one frame, with what both have written.
void FunctionGen::join_frames(BlockId to) {
  Entry& e = entry_[to];
  if (e.frame == kNone) return;
  grow(e.y_stale, y_stale_.size());
  for (std::size_t i = 0; i < y_stale_.size(); i++) e.y_stale[i] = e.y_stale[i] || y_stale_[i];
  const std::uint32_t a = frame_root(e.frame), b = frame_root(frame_);
  if (a != b) {
    Frame &x = frames_[a], &y = frames_[b];
    x.slots = std::max(x.slots, y.slots);
    if (!x.seen_collection) {
      x.written = y.written;
    } else if (y.seen_collection) {
      for (std::size_t i = 0; i < x.written.size(); i++)
        x.written[i] = x.written[i] && i < y.written.size() && y.written[i];
    }
    x.seen_collection |= y.seen_collection;
    y.same_as = a;
  }
  for (std::size_t i = 0; i < e.y_written.size(); i++) {
    bool written_by_edge = false;
    for (const Place& p : e.places) written_by_edge |= p.y == static_cast<std::int32_t>(i);
    for (const Operand& o : e.params) written_by_edge |= o.kind == Operand::kY && o.n == i;
    e.y_written[i] = written_by_edge || (e.y_written[i] && i < y_written_.size() && y_written_[i]);
  }
}

void FunctionGen::goto_block(BlockId to, std::span<const Arg> args) {
  const Block& b = fn_.blocks[to];
  if (framed_in_[to] && frame_ == kNone) allocate(kNone);
  Entry& e = entry_[to];
  if (!e.set) {
    if (b.is_loop_head) {
      read_now_.clear();
      for (ValueId v : b.live_in) save(v);
      for (ValueId& v : y_) {
        if (v != kNone && std::find(b.live_in.begin(), b.live_in.end(), v) == b.live_in.end()) {
          loc_y_[v] = -1;
          v = kNone;
        }
      }
      forget_dead();
    }
    set_entry(to, args);
  } else {
    join_frames(to);
  }
  parallel(conform(to, args));
  if (out_ == &main_ && to == next_) falls_through_ = true;
  else emit(Bop::kJump, {Operand::label(label_of(to))});
}

/// Label for a conditional jump to `to`; if something has to be moved on the way, that of a stub
/// that does it.
std::uint32_t FunctionGen::edge(BlockId to) {
  const bool frame_fits = !framed_in_[to] || frame_ != kNone;
  if (frame_fits) {
    if (!entry_[to].set && !fn_.blocks[to].is_loop_head) {
      set_entry(to, {});
      return label_of(to);
    }
    if (entry_[to].set && conform(to, {}).empty()) {
      join_frames(to);
      return label_of(to);
    }
  }
  // The state is put back afterwards.
  auto x = x_, y = y_;
  auto x_valid = x_valid_, y_written = y_written_, y_stale = y_stale_;
  auto frame = frame_;
  auto* out = out_;
  const std::uint32_t label = builder_.new_label();
  out_ = &stubs_[to];
  emit(Bop::kLabel, {Operand::u(label)});
  goto_block(to, {});
  out_ = out;
  for (ValueId v : resident_) loc_x_[v] = loc_y_[v] = -1;
  x_ = std::move(x);
  y_ = std::move(y);
  frame_ = frame;
  for (std::uint32_t r = 0; r < x_.size(); r++) {
    if (x_[r] != kNone) loc_x_[x_[r]] = static_cast<std::int32_t>(r);
  }
  for (std::uint32_t r = 0; r < y_.size(); r++) {
    if (y_[r] != kNone) loc_y_[y_[r]] = static_cast<std::int32_t>(r);
  }
  x_valid_ = std::move(x_valid);
  y_written_ = std::move(y_written);
  y_stale_ = std::move(y_stale);
  return label;
}

// --- ends of blocks ------------------------------------------------------------------------------

void FunctionGen::error(const Block& b) {
  const auto at = static_cast<std::uint32_t>(b.code.size());
  if (b.error == Fail::kFunctionClause) {
    std::vector<Arg> params = b.jump_args;
    if (params.empty()) {
      for (ValueId v : fn_.params) params.push_back(Arg::of(v));
    }
    to_registers(params, at, false);
    if (frame_ != kNone) emit(Bop::kDeallocate, {Operand::u(frame_)});
    emit(Bop::kJump, {Operand::label(info_label_)});
    return;
  }
  stack_walk();
  line(b.loc);
  switch (b.error) {
    case Fail::kCaseClause: emit(Bop::kCaseEnd, {operand(b.subject)}); break;
    case Fail::kBadmatch: emit(Bop::kBadmatch, {operand(b.subject)}); break;
    case Fail::kTryClause: emit(Bop::kTryCaseEnd, {operand(b.subject)}); break;
    case Fail::kBadrecord: emit(Bop::kBadrecord, {operand(b.subject)}); break;
    default: emit(Bop::kIfEnd, {}); break;
  }
}

void FunctionGen::terminate(BlockId id) {
  const Block& b = fn_.blocks[id];
  read_now_.clear();
  switch (b.end) {
    case BlockEnd::kJump: goto_block(b.succ, b.jump_args); break;
    case BlockEnd::kFallible: goto_block(b.succ, {}); break;
    case BlockEnd::kReturn:
      move(operand(b.subject), Operand::x(0));
      stack_walk();
      if (frame_ != kNone) emit(Bop::kDeallocate, {Operand::u(frame_)});
      emit(Bop::kReturn, {});
      break;
    case BlockEnd::kError: error(b); break;
    case BlockEnd::kSwitchValue:
    case BlockEnd::kSwitchArity: {
      const bool value = b.end == BlockEnd::kSwitchValue;
      std::vector<Operand> cases;
      for (const ssa::SwitchCase& c : b.cases) {
        cases.push_back(value ? Operand::of(c.value)
                              : Operand::u(static_cast<std::uint64_t>(c.value.small_value())));
        cases.push_back(Operand::label(edge(c.to)));
      }
      std::vector<Operand> args{operand(b.subject), Operand::label(edge(b.fail)),
                                Operand::list(cases.size())};
      args.insert(args.end(), cases.begin(), cases.end());
      emit(value ? Bop::kSelectVal : Bop::kSelectTupleArity, std::move(args));
      break;
    }
    case BlockEnd::kTry:
    case BlockEnd::kCatch: {
      for (ValueId v : fn_.blocks[b.fail].live_in) {
        if (v != b.tag) save(v);
      }
      const std::uint32_t slot = tag_slots_ - 1 - nesting(b);
      Frame& f = frames_[frame_root(frame_)];
      f.slots = std::max(f.slots, slot + 1);
      grow(y_written_, slot + 1);
      const bool written = y_written_[slot];
      set_y(slot, b.tag);
      y_written_[slot] = written;
      collection(x_top());
      y_written_[slot] = true;
      set_entry(b.fail, {});
      emit(b.end == BlockEnd::kTry ? Bop::kTry : Bop::kCatch,
           {Operand::y(slot), Operand::label(label_of(b.fail))});
      goto_block(b.succ, {});
      break;
    }
    case BlockEnd::kLoopRec: {
      const std::uint32_t wait = edge(b.fail);
      set_x(0, b.tag);
      emit(Bop::kLoopRec, {Operand::label(wait), Operand::x(0)});
      goto_block(b.succ, {});
      break;
    }
    case BlockEnd::kLoopRecEnd: emit(Bop::kLoopRecEnd, {Operand::label(label_of(b.succ))}); break;
    case BlockEnd::kWait:  // directly after its label, also no line: some loaders ask for that
      emit(Bop::kWait, {Operand::label(label_of(b.succ))});
      break;
    case BlockEnd::kWaitTimeout:
      emit(Bop::kWaitTimeout, {Operand::label(label_of(b.fail)), operand(b.subject)});
      goto_block(b.succ, {});
      break;
    case BlockEnd::kUnreachable:
    case BlockEnd::kNone: break;
  }
}

namespace {

void append(std::vector<AsmInstr>& code, std::vector<AsmInstr> more) {
  code.insert(code.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

/// Stubs stand in front of the block they lead to, unless the block before runs into it: the last
/// needs no jump then. Besides, OTP's own passes over assembly drop a label that nothing in front
/// of it leads to, such as that of a receive entered through stubs only.
void FunctionGen::run() {
  plan_frames();
  Entry& first = entry_[fn_.entry];
  first.set = true;
  for (std::uint32_t k = 0; k < fn_.params.size(); k++) {
    first.places.push_back({fn_.params[k], static_cast<std::int32_t>(k), -1});
    first.x_valid.push_back(true);
  }
  for (std::size_t k = 0; k < live_.order.size(); k++) {
    next_ = k + 1 < live_.order.size() ? live_.order[k + 1] : kNone;
    if (!falls_through_) append(main_, std::move(stubs_[live_.order[k]]));
    falls_through_ = false;
    block_code(live_.order[k]);
  }
  for (std::vector<AsmInstr>& stubs : stubs_) append(main_, std::move(stubs));
  finish_frames();
  append(builder_.code().code, std::move(main_));
}

void generate_function(CodeBuilder& builder, ssa::Program& program, ssa::Function& fn,
                       const std::vector<std::uint32_t>& entries, std::uint32_t info_label) {
  FunctionGen(builder, program, fn, entries, info_label).run();
}

}  // namespace vmrun::compile

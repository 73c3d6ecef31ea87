// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/emit/edges.hpp"

#include <algorithm>
#include <utility>

namespace vmrun::compile {

using ir::BlockEnd;

/// A call that ends the function (or never returns) does not need a frame, unless its only form has
/// one.
bool needs_frame(const Block& b) {
  if (b.end == BlockEnd::kTry || b.end == BlockEnd::kCatch) return true;
  for (std::size_t k = 0; k < b.code.size(); ++k) {
    const Instr& i = b.code[k];
    if (!ir::is_call(i.op)) continue;
    const bool plain = i.op == Op::kCall || i.op == Op::kCallExt;
    const bool end = k + 1 == b.code.size();
    if (plain && end && b.end == BlockEnd::kUnreachable) continue;
    if (plain && end && b.end == BlockEnd::kReturn && b.subject == Arg::of(i.dst())) continue;
    return true;
  }
  return false;
}

namespace {

void append(std::vector<AsmInstr>& code, std::vector<AsmInstr> more) {
  code.insert(code.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

/// Returns how many try and catch are around a block.
std::uint32_t Edges::nesting(const Block& b) const {
  std::uint32_t depth = 0;
  for (BlockId h = b.handler; h != kNone; h = fn_.blocks[h].handler) ++depth;
  return depth;
}

void Edges::plan_frames() {
  for (BlockId id : live_.order) {
    const Block& b = fn_.blocks[id];
    if (b.end == BlockEnd::kTry || b.end == BlockEnd::kCatch)
      frames_.tag_slots = std::max(frames_.tag_slots, nesting(b) + 1);
  }
  for (BlockId id : live_.order) {
    const Block& b = fn_.blocks[id];
    if (b.is_loop_head && !b.live_in.empty()) framed_in_[id] = true;
    if (b.end == BlockEnd::kLoopRec) fragile_in_[b.succ] = true;
    if (fragile_in_[id] && (b.code.empty() || b.code[0].op != Op::kRemoveMessage)) {
      ir::for_successors(b,
                         [&](BlockId t) { fragile_in_[t] = fragile_in_[t] || !fn_.blocks[t].is_loop_head; });
    }
    if (!framed_in_[id] && !needs_frame(b)) continue;
    ir::for_successors(b, [&](BlockId t) { framed_in_[t] = true; });
  }
}

Edges::Edges(CodeBuilder& builder, const ir::Function& fn, const ir::Liveness& live, Uses& uses,
             Frames& frames, Registers& registers)
    : builder_(builder), fn_(fn), live_(live), uses_(uses), frames_(frames), regs_(registers) {
  entry_.resize(fn.blocks.size());
  stubs_.resize(fn.blocks.size());
  framed_in_.resize(fn.blocks.size());
  fragile_in_.resize(fn.blocks.size());
  regs_.set_output(code_);
}

void Edges::enter_function() {
  Entry& first = entry_[fn_.entry];
  first.set = true;
  for (std::uint32_t k = 0; k < fn_.params.size(); ++k) {
    first.places.push_back({fn_.params[k], static_cast<std::int32_t>(k), -1});
    first.contents.x_valid.push_back(true);
  }
}

void Edges::enter_block(BlockId id, BlockId next) {
  next_ = next;
  if (!falls_through_) append(code_, std::move(stubs_[id]));
  falls_through_ = false;
  const Block& b = fn_.blocks[id];
  regs_.begin_block(fragile_in_[id] && (b.code.empty() || b.code[0].op != Op::kRemoveMessage));
  const Entry& e = entry_[id];
  frames_.set_current(e.frame);
  for (const Place& p : e.places) {
    if (p.x >= 0) regs_.set_x(static_cast<std::uint32_t>(p.x), p.value);
    if (p.y >= 0) regs_.set_y(static_cast<std::uint32_t>(p.y), p.value);
  }
  for (std::size_t k = 0; k < b.params.size(); ++k) {
    const Operand& o = e.params[k];
    if (o.kind == Operand::kX) regs_.set_x(o.n, b.params[k]);
    else regs_.set_y(o.n, b.params[k]);
  }
  regs_.set_contents(e.contents);
  uses_.enter(id);
  regs_.release_unneeded();
  if (e.wanted || b.is_loop_head) regs_.emit(Bop::kLabel, {Operand::u(label_of(id))});
}

std::vector<AsmInstr> Edges::finish() {
  for (std::vector<AsmInstr>& stubs : stubs_) append(code_, std::move(stubs));
  frames_.finish(code_);
  return std::move(code_);
}

std::uint32_t Edges::label_of(BlockId b) {
  Entry& e = entry_[b];
  if (e.label == 0) e.label = builder_.new_label();
  e.wanted = true;
  return e.label;
}

/// Fixes where values are at the start of `to`: as far as possible where they are now.
void Edges::set_entry(BlockId to, std::span<const Arg> args) {
  const Block& b = fn_.blocks[to];
  Entry& e = entry_[to];
  e.set = true;
  e.frame = frames_.current();
  const bool only_y = b.is_handler || b.is_loop_head;
  const bool join = b.preds.size() > 1 || only_y;
  std::vector<bool> x_taken, y_taken;
  for (ValueId v : b.live_in) {
    Place p{v, only_y ? -1 : regs_.x_of(v), regs_.y_of(v)};
    if (join && p.y >= 0) p.x = -1;
    if (p.x >= 0)
      grow(x_taken, static_cast<std::size_t>(p.x) + 1), x_taken[static_cast<std::size_t>(p.x)] = true;
    if (p.y >= 0)
      grow(y_taken, static_cast<std::size_t>(p.y) + 1), y_taken[static_cast<std::size_t>(p.y)] = true;
    e.places.push_back(p);
  }
  auto taken = [](const std::vector<bool>& t, std::size_t r) { return r < t.size() && t[r]; };
  for (std::size_t k = 0; k < b.params.size(); ++k) {
    const ir::Hint hint = live_.hints[b.params[k]];
    Operand place;
    auto at_x = [&](std::size_t r) { return Operand::x(static_cast<std::uint32_t>(r)); };
    if (b.is_handler) {
      place = at_x(0);
    } else if (hint.x >= 0 && !taken(x_taken, static_cast<std::size_t>(hint.x))) {
      place = at_x(static_cast<std::size_t>(hint.x));
    } else if (hint.outlasts_call && frames_.open_now()) {
      std::uint32_t r = 0;
      if (args[k].is_value() && regs_.y_of(args[k].value) >= 0 &&
          !taken(y_taken, static_cast<std::size_t>(regs_.y_of(args[k].value))))
        r = static_cast<std::uint32_t>(regs_.y_of(args[k].value));
      else
        for (r = frames_.tag_slots; taken(y_taken, r);) ++r;
      place = Operand::y(r);
      grow(y_taken, r + 1);
      y_taken[r] = true;
      frames_.use_slot(r);
    } else {
      std::size_t r = 0;
      if (args[k].is_value() && regs_.x_of(args[k].value) >= 0 &&
          !taken(x_taken, static_cast<std::size_t>(regs_.x_of(args[k].value))))
        r = static_cast<std::size_t>(regs_.x_of(args[k].value));
      else
        while (taken(x_taken, r)) ++r;
      place = at_x(r);
    }
    if (place.kind == Operand::kX) grow(x_taken, place.n + 1), x_taken[place.n] = true;
    e.params.push_back(place);
  }
  e.contents.x_valid = x_taken;
  if (!join) {
    grow(e.contents.x_valid, regs_.x_valid().size());
    for (std::size_t r = 0; r < regs_.x_valid().size(); ++r)
      e.contents.x_valid[r] = e.contents.x_valid[r] || regs_.x_valid()[r];
  }
  e.contents.y_written = regs_.y_written();
  e.contents.y_stale = regs_.y_stale();
  grow(e.contents.y_stale, y_taken.size());
  for (std::size_t r = 0; r < y_taken.size(); ++r)
    e.contents.y_stale[r] = e.contents.y_stale[r] || y_taken[r];
  grow(e.contents.y_written, y_taken.size());
  for (std::size_t r = 0; r < y_taken.size(); ++r)
    e.contents.y_written[r] = e.contents.y_written[r] || y_taken[r];
}

/// Returns the moves that turn the current state into that at the start of `to`.
std::vector<Registers::Move> Edges::conform(BlockId to, std::span<const Arg> args) {
  const Entry& e = entry_[to];
  std::vector<Registers::Move> moves;
  for (const Place& p : e.places) {
    if (p.x >= 0 && regs_.x_of(p.value) != p.x)
      moves.push_back({regs_.where(p.value), Operand::x(static_cast<std::uint32_t>(p.x))});
    if (p.y >= 0 && regs_.y_of(p.value) != p.y)
      moves.push_back({regs_.where(p.value), Operand::y(static_cast<std::uint32_t>(p.y))});
  }
  for (std::size_t k = 0; k < e.params.size(); ++k) {
    const Operand from = regs_.operand(args[k]);
    if (args[k].is_value() && e.params[k].kind == Operand::kY &&
        regs_.y_of(args[k].value) == static_cast<std::int32_t>(e.params[k].n))
      continue;
    if (!(from == e.params[k])) moves.push_back({from, e.params[k]});
  }
  return moves;
}

/// Both sides of a merge point run in one frame, of which the slots count as written that both have
/// written.
void Edges::join_frames(BlockId to) {
  Entry& e = entry_[to];
  if (e.frame == kNone) return;
  grow(e.contents.y_stale, regs_.y_stale().size());
  for (std::size_t i = 0; i < regs_.y_stale().size(); ++i)
    e.contents.y_stale[i] = e.contents.y_stale[i] || regs_.y_stale()[i];
  frames_.join(e.frame);
  for (std::size_t i = 0; i < e.contents.y_written.size(); ++i) {
    bool written_by_edge = false;
    for (const Place& p : e.places) written_by_edge |= p.y == static_cast<std::int32_t>(i);
    for (const Operand& o : e.params) written_by_edge |= o.kind == Operand::kY && o.n == i;
    e.contents.y_written[i] =
        written_by_edge || (e.contents.y_written[i] && i < regs_.y_written().size() && regs_.y_written()[i]);
  }
}

void Edges::goto_block(BlockId to, std::span<const Arg> args) {
  const Block& b = fn_.blocks[to];
  if (framed_in_[to] && !frames_.open_now()) regs_.open_frame({});
  Entry& e = entry_[to];
  if (!e.set) {
    if (b.is_loop_head) regs_.keep_on_stack(b.live_in);
    set_entry(to, args);
  } else {
    join_frames(to);
  }
  regs_.parallel(conform(to, args));
  if (!in_stub_ && to == next_) falls_through_ = true;
  else regs_.emit(Bop::kJump, {Operand::label(label_of(to))});
}

/// Returns a label for a conditional jump to `to`. If values have to be moved on the way, it is the
/// label of a stub that moves them.
std::uint32_t Edges::edge(BlockId to) {
  const bool frame_fits = !framed_in_[to] || frames_.open_now();
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
  Registers::State before = regs_.state();
  const std::uint32_t label = builder_.new_label();
  in_stub_ = true;
  regs_.set_output(stubs_[to]);
  regs_.emit(Bop::kLabel, {Operand::u(label)});
  goto_block(to, {});
  in_stub_ = false;
  regs_.set_output(code_);
  regs_.restore(std::move(before));
  return label;
}

}  // namespace vmrun::compile

// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/emit/registers.hpp"

#include <algorithm>
#include <unordered_map>

#include "vm/ir/bif_info.hpp"

namespace vmrun::compile {

using ir::BlockEnd;

Operand HeapNeed::operand() const {
  if (floats == 0 && funs == 0) return Operand::u(words);
  Operand o{Operand::kAlloc, words, floats, funs, {}};
  return o;
}

Registers::Registers(const ir::Function& fn, const ir::Liveness& live, const Uses& uses, Frames& frames)
    : fn_(fn), live_(live), uses_(uses), frames_(frames) {
  loc_x_.assign(fn.value_count, -1);
  loc_y_.assign(fn.value_count, -1);
  small_.resize(fn.value_count);
  for (const Block& b : fn.blocks) {
    for (const Instr& i : b.code) {
      const bool number = (i.op == Op::kBif && (i.bif->gc || i.bif->boolean)) || i.op == Op::kFloatBox ||
                          i.op == Op::kBsGetPosition ||
                          (i.op == Op::kBsGet && i.spec.type != ir::SegType::kBinary) ||
                          i.op == Op::kMarkerReserve;
      if (number && i.dst() != kNone)
        small_[i.dst()] =
            !(i.op == Op::kBif && i.bif->arity >= 2 && i.bif->name[0] == 'b' && i.bif->name[1] == 'i');
    }
    if (b.tag != kNone) small_[b.tag] = b.end != BlockEnd::kLoopRec;
  }
}

Operand Registers::where(ValueId v) const {
  if (loc_x_[v] >= 0) return Operand::x(static_cast<std::uint32_t>(loc_x_[v]));
  return Operand::y(static_cast<std::uint32_t>(std::max(loc_y_[v], 0)));
}

void Registers::drop_x(std::uint32_t r) {
  if (r < x_.size() && x_[r] != kNone) {
    loc_x_[x_[r]] = -1;
    x_[r] = kNone;
  }
}

void Registers::release(ValueId v) {
  // Its registers may already belong to another value.
  if (auto r = static_cast<std::size_t>(loc_x_[v]); loc_x_[v] >= 0 && x_[r] == v) x_[r] = kNone;
  if (auto r = static_cast<std::size_t>(loc_y_[v]); loc_y_[v] >= 0 && y_[r] == v) {
    y_[r] = kNone;
    read_now_.push_back(static_cast<std::uint32_t>(r));
  }
  loc_x_[v] = loc_y_[v] = -1;
}

void Registers::release_dead(std::span<const Arg> args, std::uint32_t at) {
  for (Arg a : args)
    if (a.is_value() && uses_.dies(a.value, at)) release(a.value);
}

void Registers::set_x(std::uint32_t r, ValueId v) {
  if (x_.size() <= r) x_.resize(r + 1, kNone);
  drop_x(r);
  if (loc_x_[v] >= 0) x_[static_cast<std::uint32_t>(loc_x_[v])] = kNone;
  x_[r] = v;
  grow(x_valid_, r + 1);
  x_valid_[r] = true;
  loc_x_[v] = static_cast<std::int32_t>(r);
  resident_.push_back(v);
}

void Registers::set_y(std::uint32_t r, ValueId v) {
  frames_.use_slot(r);
  if (y_.size() <= r) y_.resize(r + 1, kNone);
  y_[r] = v;
  grow(y_stale_, r + 1);
  y_stale_[r] = !small_[v];
  grow(y_written_, r + 1);
  y_written_[r] = true;
  loc_y_[v] = static_cast<std::int32_t>(r);
  resident_.push_back(v);
}

std::uint32_t Registers::free_x() const {
  std::uint32_t r = 0;
  while (r < x_.size() && x_[r] != kNone) ++r;
  return r;
}

/// before_read: the slot is written before the current instruction reads its arguments.
std::uint32_t Registers::free_y(bool before_read) {
  std::uint32_t r = frames_.tag_slots;
  while ((r < y_.size() && y_[r] != kNone) ||
         (before_read && std::find(read_now_.begin(), read_now_.end(), r) != read_now_.end()))
    ++r;
  return r;
}

std::uint32_t Registers::x_top() const {
  auto r = static_cast<std::uint32_t>(x_.size());
  while (r > 0 && x_[r - 1] == kNone) --r;
  return r;
}

/// Returns the number of x registers that a collection here must scan; fills holes.
std::uint32_t Registers::live_x() {
  for (std::uint32_t r = 0; r < x_top(); ++r) {
    grow(x_valid_, r + 1);
    if (x_valid_[r]) continue;
    const std::uint32_t top = x_top() - 1;
    const ValueId v = x_[top];
    move(Operand::x(top), Operand::x(r));
    drop_x(top);
    set_x(r, v);
  }
  return x_top();
}

void Registers::save(ValueId v) {
  if (loc_y_[v] >= 0) return;
  const std::uint32_t slot = free_y(true);
  move(where(v), Operand::y(slot));
  set_y(slot, v);
}

/// If the call at `next` takes the last use of a stack value as an argument, returns the x register
/// of that argument. A value in that register that must be saved changes places with it, and needs
/// no slot of its own.
std::uint32_t Registers::place_to_swap(std::uint32_t next) const {
  const Instr& call = uses_.block().code[next];
  const std::size_t from = ir::first_register_arg(call);
  for (std::size_t k = from; k < call.args.size(); ++k) {
    const Arg a = call.args[k];
    const auto r = static_cast<std::uint32_t>(k - from);
    if (a.is_value() && loc_x_[a.value] < 0 && loc_y_[a.value] >= 0 && uses_.dies(a.value, next) &&
        (r >= x_.size() || x_[r] == kNone))
      return r;
  }
  return kNone;
}

/// Picks the register to which instruction `at` writes v. Called after the arguments' locations
/// have been read and dead ones released.
Operand Registers::define(ValueId v, std::uint32_t at, bool allow_y) {
  const bool used = !uses_.dies(v, at);
  if (!used) {
    const std::uint32_t r = free_x();
    if (x_.size() <= r) x_.resize(r + 1, kNone);
    grow(x_valid_, r + 1);
    x_valid_[r] = true;
    return Operand::x(r);
  }
  const std::uint32_t next = uses_.next_clobber(at);
  const bool far = uses_.outlasts(v, at);
  const ir::Hint hint = live_.hints[v];
  if (far && allow_y && frames_.open_now() && !fragile_) {
    // If that call also takes it as an argument, it goes to the argument's register first, and is
    // stored on the way.
    if (!(hint.x >= 0 && next != Uses::kForever &&
          (static_cast<std::size_t>(hint.x) >= x_.size() || x_[static_cast<std::size_t>(hint.x)] == kNone))) {
      const std::uint32_t slot = free_y();
      grow(y_written_, slot + 1);
      if (const std::uint32_t r = next != Uses::kForever && !y_written_[slot] ? place_to_swap(next) : kNone;
          r != kNone) {
        set_x(r, v);
        return Operand::x(r);
      }
      const bool written = y_written_[slot];
      set_y(slot, v);
      y_written_[slot] = written;
      if (!written) pending_.push_back(slot);
      return Operand::y(slot);
    }
  }
  std::uint32_t r = free_x();
  if (hint.x >= 0) {
    const auto h = static_cast<std::uint32_t>(hint.x);
    if (h >= x_.size() || x_[h] == kNone) {
      r = h;
    } else if (frames_.open_now() && !fragile_ && next != Uses::kForever && uses_.outlasts(x_[h], at)) {
      // The value in that register has to be saved on the stack before the call anyway.
      save(x_[h]);
      drop_x(h);
      r = h;
    }
  }
  set_x(r, v);
  return Operand::x(r);
}

void Registers::clobber() {
  for (std::uint32_t r = 0; r < x_.size(); ++r) drop_x(r);
  std::fill(x_valid_.begin(), x_valid_.end(), false);
}

/// Records that memory may be collected here.
void Registers::collection(std::uint32_t live) {
  for (std::size_t r = live; r < x_valid_.size(); ++r) x_valid_[r] = false;
  stack_walk();
}

/// Records that the stack is walked here, by a collection or in search of a catch: every y register
/// must have been written.
void Registers::stack_walk() {
  if (frames_.open_now()) frames_.walked(y_written_);
}

/// Clears stack slots of values that are not needed any more, so that a long call does not keep
/// them alive.
void Registers::forget_dead() {
  if (!frames_.open_now()) return;
  std::vector<Operand> slots{Operand::list(0)};
  for (std::uint32_t r = frames_.tag_slots; r < y_stale_.size(); ++r) {
    if (!y_stale_[r] || (r < y_.size() && y_[r] != kNone)) continue;
    slots.push_back(Operand::y(r));
    y_stale_[r] = false;
  }
  if (slots.size() == 1) return;
  slots[0].n = static_cast<std::uint32_t>(slots.size() - 1);
  emit(Bop::kInitYregs, std::move(slots));
}

void Registers::move(Operand from, Operand to) {
  if (from == to) return;
  emit(Bop::kMove, {from, to});
}

/// Does moves in parallel: each destination is written once its old content is no longer needed;
/// cycles become swaps.
void Registers::parallel(std::vector<Move> moves) {
  std::vector<Move> constants;
  std::erase_if(moves, [&](const Move& m) {
    if (m.from == m.to) return true;
    if (m.from.is_reg()) return false;
    constants.push_back(m);
    return true;
  });
  auto key = [](const Operand& o) { return std::uint64_t{o.n} << 1 | (o.kind == Operand::kY); };
  std::unordered_map<std::uint64_t, std::uint32_t> readers;
  std::unordered_map<std::uint64_t, std::size_t> writer;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    readers[key(moves[i].from)]++;
    writer[key(moves[i].to)] = i;
  }
  std::vector<bool> done(moves.size());
  std::vector<std::size_t> ready;
  for (std::size_t i = 0; i < moves.size(); ++i)
    if (!readers.contains(key(moves[i].to))) ready.push_back(i);
  std::size_t left = moves.size(), scan = 0;
  while (left > 0) {
    if (!ready.empty()) {
      const std::size_t i = ready.back();
      ready.pop_back();
      done[i] = true;
      --left;
      emit(Bop::kMove, {moves[i].from, moves[i].to});
      if (--readers[key(moves[i].from)] == 0) {
        readers.erase(key(moves[i].from));
        if (auto w = writer.find(key(moves[i].from)); w != writer.end() && !done[w->second])
          ready.push_back(w->second);
      }
      continue;
    }
    // Only cycles are left. A swap puts one value in place; the moves that read the other one find
    // it where the first one was.
    while (done[scan]) ++scan;
    Move& m = moves[scan];
    const Operand a = m.from, b = m.to;
    emit(Bop::kSwap, {a, b});
    done[scan] = true;
    --left;
    // The old value of b is now in a.
    readers.erase(key(a));
    readers.erase(key(b));
    std::uint32_t still = 0;
    for (std::size_t i = 0; i < moves.size(); ++i) {
      if (done[i] || !(moves[i].from == b)) continue;
      moves[i].from = a;
      if (moves[i].to == a) {
        done[i] = true;
        --left;
      } else {
        ++still;
      }
    }
    if (still > 0) readers[key(a)] = still;
    else if (auto w = writer.find(key(a)); w != writer.end() && !done[w->second]) ready.push_back(w->second);
  }
  for (const Move& m : constants) emit(Bop::kMove, {m.from, m.to});
}

/// Moves arguments to x0, x1, …. With `saves` it also moves everything that must outlast
/// instruction `at` to the stack, all in parallel.
void Registers::to_registers(std::span<const Arg> args, std::uint32_t at, bool saves) {
  std::vector<Move> moves;
  for (std::uint32_t k = 0; k < args.size(); ++k) {
    const Arg a = args[k];
    if (a.is_value() && k < x_.size() && x_[k] == a.value) continue;
    moves.push_back({operand(a), Operand::x(k)});
  }
  if (saves) {
    // Slots of arguments that die here may be reused.
    for (Arg a : args) {
      if (a.is_value() && uses_.dies(a.value, at) && loc_y_[a.value] >= 0)
        y_[static_cast<std::uint32_t>(loc_y_[a.value])] = kNone;
    }
    for (std::uint32_t r = 0; r < x_.size(); ++r) {
      const ValueId v = x_[r];
      if (v == kNone || uses_.dies(v, at) || loc_y_[v] >= 0) continue;
      const std::uint32_t slot = free_y();
      moves.push_back({Operand::x(r), Operand::y(slot)});
      set_y(slot, v);
    }
  }
  parallel(std::move(moves));
}

/// The preferred register of the result holds a value that must be saved on the stack before the
/// next call anyway, and an argument leaves the stack for good here: the two change places.
void Registers::trade_places(const Instr& i, std::uint32_t at) {
  const ir::Hint hint = live_.hints[i.dst()];
  if (!frames_.open_now() || fragile_ || hint.x < 0 || static_cast<std::size_t>(hint.x) >= x_.size() ||
      uses_.next_clobber(at) == Uses::kForever)
    return;
  const auto r = static_cast<std::uint32_t>(hint.x);
  const ValueId there = x_[r];
  if (there == kNone || loc_y_[there] >= 0 || !uses_.outlasts(there, at) || uses_.outlasts(i.dst(), at))
    return;
  for (Arg a : i.args)
    if (a == Arg::of(there)) return;
  for (Arg a : i.args) {
    if (!a.is_value() || loc_x_[a.value] >= 0 || loc_y_[a.value] < 0 || !uses_.dies(a.value, at)) continue;
    const auto slot = static_cast<std::uint32_t>(loc_y_[a.value]);
    emit(Bop::kSwap, {Operand::x(r), Operand::y(slot)});
    drop_x(r);
    loc_y_[a.value] = -1;
    set_x(r, a.value);
    set_y(slot, there);
    return;
  }
}

void Registers::open_frame(const HeapNeed& need) {
  const std::uint32_t live = live_x();
  collection(live);
  const std::uint32_t frame = frames_.open();
  y_.clear();
  y_written_.clear();
  y_stale_.clear();
  if (need.none()) emit(Bop::kAllocate, {Operand::u(frame), Operand::u(live)});
  else emit(Bop::kAllocateHeap, {Operand::u(frame), need.operand(), Operand::u(live)});
}

void Registers::save_before_clobber(std::uint32_t at) {
  const std::uint32_t next = uses_.next_clobber(at);
  for (std::uint32_t r = 0; r < x_.size(); ++r)
    if (x_[r] != kNone && next != Uses::kForever && uses_.last(x_[r]) > next) save(x_[r]);
}

void Registers::release_others(std::span<const ValueId> wanted) {
  wanted_.resize(fn_.value_count);
  for (ValueId v : wanted) wanted_[v] = true;
  auto unwanted = [&](ValueId v) { return v != kNone && !wanted_[v]; };
  for (std::uint32_t r = 0; r < x_.size(); ++r)
    if (unwanted(x_[r])) release(x_[r]);
  for (std::uint32_t r = 0; r < y_.size(); ++r)
    if (unwanted(y_[r])) release(y_[r]);
  for (ValueId v : wanted) wanted_[v] = false;
}

void Registers::keep_on_stack(std::span<const ValueId> values) {
  read_now_.clear();
  for (ValueId v : values) save(v);
  for (ValueId& v : y_) {
    if (v != kNone && std::find(values.begin(), values.end(), v) == values.end()) {
      loc_y_[v] = -1;
      v = kNone;
    }
  }
  forget_dead();
}

void Registers::place_tag(ValueId tag, std::uint32_t slot) {
  frames_.use_slot(slot);
  grow(y_written_, slot + 1);
  const bool written = y_written_[slot];
  set_y(slot, tag);
  y_written_[slot] = written;
  collection(x_top());
  y_written_[slot] = true;
}

void Registers::begin_block(bool fragile) {
  for (ValueId v : resident_) loc_x_[v] = loc_y_[v] = -1;
  resident_.clear();
  x_.clear();
  y_.clear();
  read_now_.clear();
  fragile_ = fragile;
}

void Registers::set_contents(const Contents& c) {
  x_valid_ = c.x_valid;
  y_written_ = c.y_written;
  y_stale_ = c.y_stale;
}

void Registers::release_unneeded() {
  for (std::uint32_t r = 0; r < x_.size(); ++r)
    if (x_[r] != kNone && !uses_.needed(x_[r])) release(x_[r]);
  read_now_.clear();
}

Registers::State Registers::state() const {
  return {x_, y_, {x_valid_, y_written_, y_stale_}, frames_.current()};
}

void Registers::restore(State s) {
  for (ValueId v : resident_) loc_x_[v] = loc_y_[v] = -1;
  x_ = std::move(s.x);
  y_ = std::move(s.y);
  frames_.set_current(s.frame);
  for (std::uint32_t r = 0; r < x_.size(); ++r)
    if (x_[r] != kNone) loc_x_[x_[r]] = static_cast<std::int32_t>(r);
  for (std::uint32_t r = 0; r < y_.size(); ++r)
    if (y_[r] != kNone) loc_y_[y_[r]] = static_cast<std::int32_t>(r);
  set_contents(s.contents);
}

}  // namespace vmrun::compile

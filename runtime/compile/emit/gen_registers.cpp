// Code generation: which value is in which register.

#include <algorithm>

#include "runtime/compile/emit/function_gen.hpp"

namespace vmrun::compile {

Operand FunctionGen::where(ValueId v) const {
  if (loc_x_[v] >= 0) return Operand::x(static_cast<std::uint32_t>(loc_x_[v]));
  return Operand::y(static_cast<std::uint32_t>(std::max(loc_y_[v], 0)));
}

/// Not needed after instruction `at` of the present block.
bool FunctionGen::dies(ValueId v, std::uint32_t at) const {
  return use_[v].block != id_ || use_[v].last <= at;
}

void FunctionGen::drop_x(std::uint32_t r) {
  if (r < x_.size() && x_[r] != kNone) {
    loc_x_[x_[r]] = -1;
    x_[r] = kNone;
  }
}

void FunctionGen::release(ValueId v) {
  // Its registers may have been given to somebody else already.
  if (auto r = static_cast<std::size_t>(loc_x_[v]); loc_x_[v] >= 0 && x_[r] == v) x_[r] = kNone;
  if (auto r = static_cast<std::size_t>(loc_y_[v]); loc_y_[v] >= 0 && y_[r] == v) {
    y_[r] = kNone;
    read_now_.push_back(static_cast<std::uint32_t>(r));
  }
  loc_x_[v] = loc_y_[v] = -1;
}

void FunctionGen::release_dead(std::span<const Arg> args, std::uint32_t at) {
  for (Arg a : args) {
    if (a.is_value() && dies(a.value, at)) release(a.value);
  }
}

void FunctionGen::set_x(std::uint32_t r, ValueId v) {
  if (x_.size() <= r) x_.resize(r + 1, kNone);
  drop_x(r);
  if (loc_x_[v] >= 0) x_[static_cast<std::uint32_t>(loc_x_[v])] = kNone;
  x_[r] = v;
  grow(x_valid_, r + 1);
  x_valid_[r] = true;
  loc_x_[v] = static_cast<std::int32_t>(r);
  resident_.push_back(v);
}

void FunctionGen::set_y(std::uint32_t r, ValueId v) {
  if (frame_ != kNone) {
    Frame& f = frames_[frame_root(frame_)];
    f.slots = std::max(f.slots, r + 1);
  }
  if (y_.size() <= r) y_.resize(r + 1, kNone);
  y_[r] = v;
  grow(y_stale_, r + 1);
  y_stale_[r] = !small_[v];
  grow(y_written_, r + 1);
  y_written_[r] = true;
  loc_y_[v] = static_cast<std::int32_t>(r);
  resident_.push_back(v);
}

std::uint32_t FunctionGen::free_x() const {
  std::uint32_t r = 0;
  while (r < x_.size() && x_[r] != kNone) r++;
  return r;
}

/// before_read: the slot is written before the present instruction reads its arguments.
std::uint32_t FunctionGen::free_y(bool before_read) {
  std::uint32_t r = tag_slots_;
  while ((r < y_.size() && y_[r] != kNone) ||
         (before_read && std::find(read_now_.begin(), read_now_.end(), r) != read_now_.end()))
    r++;
  return r;
}

std::uint32_t FunctionGen::x_top() const {
  auto r = static_cast<std::uint32_t>(x_.size());
  while (r > 0 && x_[r - 1] == kNone) r--;
  return r;
}

/// Number of x registers a collection here must look at, holes closed.
std::uint32_t FunctionGen::live_x() {
  for (std::uint32_t r = 0; r < x_top(); r++) {
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

std::uint32_t FunctionGen::next_clobber(std::uint32_t at) const {
  auto it = std::upper_bound(clobbers_.begin(), clobbers_.end(), at);
  return it == clobbers_.end() ? kForever : *it;
}

/// Whether v, known to be alive after `at`, is still needed after the next call.
bool FunctionGen::outlasts(ValueId v, std::uint32_t at) const {
  const std::uint32_t next = next_clobber(at);
  if (use_[v].block != id_) return false;
  if (next != kForever) return use_[v].last > next;
  return use_[v].last == kForever && live_.hints[v].outlasts_call && live_.hints[v].x < 0;
}

void FunctionGen::save(ValueId v) {
  if (loc_y_[v] >= 0) return;
  const std::uint32_t slot = free_y(true);
  move(where(v), Operand::y(slot));
  set_y(slot, v);
}

/// If the call at `next` takes an argument out of the stack for good: the x register it goes to. A
/// value left there that must be saved changes places with it, and needs no slot of its own.
std::uint32_t FunctionGen::place_to_swap(std::uint32_t next) const {
  const Instr& call = block_->code[next];
  const std::size_t from = ssa::first_register_arg(call);
  for (std::size_t k = from; k < call.args.size(); k++) {
    const Arg a = call.args[k];
    const auto r = static_cast<std::uint32_t>(k - from);
    if (a.is_value() && loc_x_[a.value] < 0 && loc_y_[a.value] >= 0 && dies(a.value, next) &&
        (r >= x_.size() || x_[r] == kNone))
      return r;
  }
  return kNone;
}

/// Picks the register that instruction `at` writes v to. Call after the arguments' locations were
/// read and dead ones released.
Operand FunctionGen::define(ValueId v, std::uint32_t at, bool allow_y) {
  const bool used = !dies(v, at);
  if (!used) {
    const std::uint32_t r = free_x();
    if (x_.size() <= r) x_.resize(r + 1, kNone);
    grow(x_valid_, r + 1);
    x_valid_[r] = true;
    return Operand::x(r);
  }
  const std::uint32_t next = next_clobber(at);
  const bool far = outlasts(v, at);
  const ssa::Hint hint = live_.hints[v];
  if (far && allow_y && frame_ != kNone && !fragile_) {
    // Wanted as an argument of that call too: it goes there first, and is stored on the way.
    if (!(hint.x >= 0 && next != kForever &&
          (static_cast<std::size_t>(hint.x) >= x_.size() || x_[static_cast<std::size_t>(hint.x)] == kNone))) {
      const std::uint32_t slot = free_y();
      grow(y_written_, slot + 1);
      if (const std::uint32_t r = next != kForever && !y_written_[slot] ? place_to_swap(next) : kNone;
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
    } else if (frame_ != kNone && !fragile_ && next != kForever && outlasts(x_[h], at)) {
      // Whoever is there has to go to the stack before the call anyway.
      save(x_[h]);
      drop_x(h);
      r = h;
    }
  }
  set_x(r, v);
  return Operand::x(r);
}

void FunctionGen::clobber() {
  for (std::uint32_t r = 0; r < x_.size(); r++) drop_x(r);
  std::fill(x_valid_.begin(), x_valid_.end(), false);
}

/// Memory may be collected here.
void FunctionGen::collection(std::uint32_t live) {
  for (std::size_t r = live; r < x_valid_.size(); r++) x_valid_[r] = false;
  stack_walk();
}

/// The stack is looked at here, by a collection or in search of a catch: every y register must hold
/// something.
void FunctionGen::stack_walk() {
  if (frame_ == kNone) return;
  Frame& f = frames_[frame_root(frame_)];
  if (!f.seen_collection) {
    f.written = y_written_;
  } else {
    grow(f.written, y_written_.size());
    for (std::size_t i = 0; i < f.written.size(); i++)
      f.written[i] = f.written[i] && i < y_written_.size() && y_written_[i];
  }
  f.seen_collection = true;
}

/// Clears stack slots of values that nobody needs any more, so that a call that takes long does not
/// keep them alive.
void FunctionGen::forget_dead() {
  if (frame_ == kNone) return;
  std::vector<Operand> slots{Operand::list(0)};
  for (std::uint32_t r = tag_slots_; r < y_stale_.size(); r++) {
    if (!y_stale_[r] || (r < y_.size() && y_[r] != kNone)) continue;
    slots.push_back(Operand::y(r));
    y_stale_[r] = false;
  }
  if (slots.size() == 1) return;
  slots[0].n = static_cast<std::uint32_t>(slots.size() - 1);
  emit(Bop::kInitYregs, std::move(slots));
}

void FunctionGen::move(Operand from, Operand to) {
  if (from == to) return;
  emit(Bop::kMove, {from, to});
}

/// Moves that happen at once: each destination is written once its old content is no longer needed;
/// cycles become swaps.
void FunctionGen::parallel(std::vector<Move> moves) {
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
  for (std::size_t i = 0; i < moves.size(); i++) {
    readers[key(moves[i].from)]++;
    writer[key(moves[i].to)] = i;
  }
  std::vector<bool> done(moves.size());
  std::vector<std::size_t> ready;
  for (std::size_t i = 0; i < moves.size(); i++) {
    if (!readers.contains(key(moves[i].to))) ready.push_back(i);
  }
  std::size_t left = moves.size(), scan = 0;
  while (left > 0) {
    if (!ready.empty()) {
      const std::size_t i = ready.back();
      ready.pop_back();
      done[i] = true;
      left--;
      emit(Bop::kMove, {moves[i].from, moves[i].to});
      if (--readers[key(moves[i].from)] == 0) {
        readers.erase(key(moves[i].from));
        if (auto w = writer.find(key(moves[i].from)); w != writer.end() && !done[w->second])
          ready.push_back(w->second);
      }
      continue;
    }
    // Only cycles are left. Swapping puts one value in place; whoever wanted the other finds it
    // where that one was.
    while (done[scan]) scan++;
    Move& m = moves[scan];
    const Operand a = m.from, b = m.to;
    emit(Bop::kSwap, {a, b});
    done[scan] = true;
    left--;
    // What was in b is now in a.
    readers.erase(key(a));
    const std::uint32_t count = readers[key(b)];
    readers.erase(key(b));
    std::uint32_t still = 0;
    for (std::size_t i = 0; i < moves.size(); i++) {
      if (done[i] || !(moves[i].from == b)) continue;
      moves[i].from = a;
      if (moves[i].to == a) {
        done[i] = true;
        left--;
      } else {
        still++;
      }
    }
    (void)count;
    if (still > 0) readers[key(a)] = still;
    else if (auto w = writer.find(key(a)); w != writer.end() && !done[w->second]) ready.push_back(w->second);
  }
  for (const Move& m : constants) emit(Bop::kMove, {m.from, m.to});
}

/// Arguments to x0, x1, …; with `saves` also everything that must outlast instruction `at` to the
/// stack, all at once.
void FunctionGen::to_registers(std::span<const Arg> args, std::uint32_t at, bool saves) {
  std::vector<Move> moves;
  for (std::uint32_t k = 0; k < args.size(); k++) {
    const Arg a = args[k];
    if (a.is_value() && k < x_.size() && x_[k] == a.value) continue;
    moves.push_back({operand(a), Operand::x(k)});
  }
  if (saves) {
    // Slots of arguments that die here may be taken.
    for (Arg a : args) {
      if (a.is_value() && dies(a.value, at) && loc_y_[a.value] >= 0) {
        y_[static_cast<std::uint32_t>(loc_y_[a.value])] = kNone;
      }
    }
    for (std::uint32_t r = 0; r < x_.size(); r++) {
      const ValueId v = x_[r];
      if (v == kNone || dies(v, at) || loc_y_[v] >= 0) continue;
      const std::uint32_t slot = free_y();
      moves.push_back({Operand::x(r), Operand::y(slot)});
      set_y(slot, v);
    }
  }
  parallel(std::move(moves));
}

}  // namespace vmrun::compile

// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/emit/frames.hpp"

#include <algorithm>

namespace vmrun::compile {

std::uint32_t Frames::root(std::uint32_t f) {
  while (frames_[f].same_as != f) f = frames_[f].same_as = frames_[frames_[f].same_as].same_as;
  return f;
}

std::uint32_t Frames::open() {
  current_ = static_cast<std::uint32_t>(frames_.size());
  frames_.push_back({current_, 0, false, {}});
  return current_;
}

void Frames::use_slot(std::uint32_t slot) {
  if (current_ == ir::kNone) return;
  Frame& f = frames_[root(current_)];
  f.slots = std::max(f.slots, slot + 1);
}

void Frames::walked(const std::vector<bool>& written) {
  Frame& f = frames_[root(current_)];
  if (!f.seen_collection) {
    f.written = written;
  } else {
    grow(f.written, written.size());
    for (std::size_t i = 0; i < f.written.size(); ++i)
      f.written[i] = f.written[i] && i < written.size() && written[i];
  }
  f.seen_collection = true;
}

void Frames::join(std::uint32_t other) {
  const std::uint32_t a = root(other), b = root(current_);
  if (a == b) return;
  Frame &x = frames_[a], &y = frames_[b];
  x.slots = std::max(x.slots, y.slots);
  if (!x.seen_collection) {
    x.written = y.written;
  } else if (y.seen_collection) {
    for (std::size_t i = 0; i < x.written.size(); ++i)
      x.written[i] = x.written[i] && i < y.written.size() && y.written[i];
  }
  x.seen_collection |= y.seen_collection;
  y.same_as = a;
}

/// Fills in the final sizes of frames and adds the necessary initialisation.
void Frames::finish(std::vector<AsmInstr>& code) {
  std::vector<AsmInstr> done;
  done.reserve(code.size() + frames_.size());
  for (AsmInstr& i : code) {
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
    const Frame& f = frames_[root(i.args[at].n)];
    i.args[at].n = f.slots;
    done.push_back(std::move(i));
    if (!makes || !f.seen_collection) continue;
    std::vector<Operand> raw{Operand::list(0)};
    for (std::uint32_t s = 0; s < f.slots; ++s)
      if (s >= f.written.size() || !f.written[s]) raw.push_back(Operand::y(s));
    raw[0].n = static_cast<std::uint32_t>(raw.size() - 1);
    if (raw.size() > 1) done.push_back({Bop::kInitYregs, std::move(raw)});
  }
  code = std::move(done);
}

}  // namespace vmrun::compile
